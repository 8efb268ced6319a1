// The height of the bar that stays in sight, for whatever has to stay clear of it: another row
// comes with the first step.

/** Keeps --bar-height equal to the element's height, in pixels, until the returned function is
 * called. */
export function followHeight(bar: HTMLElement): () => void {
  const { style } = document.documentElement
  const observer = new ResizeObserver(() =>
    style.setProperty('--bar-height', `${Math.ceil(bar.getBoundingClientRect().height)}px`),
  )
  observer.observe(bar)
  return () => observer.disconnect()
}
