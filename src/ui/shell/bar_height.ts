// Measures the bars that stay in sight, for whatever has to stay clear of them: their heights
// change with the run and the window.

/** Keeps a property of the page equal to the element's height, in pixels, until the returned
 * function is called. */
export function followHeight(
  bar: HTMLElement,
  property: '--bar-height' | '--work-height',
): () => void {
  const { style } = document.documentElement
  const observer = new ResizeObserver(() =>
    style.setProperty(property, `${Math.ceil(bar.getBoundingClientRect().height)}px`),
  )
  observer.observe(bar)
  return () => observer.disconnect()
}
