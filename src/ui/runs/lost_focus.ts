// Takes the focus that went away with what had it.

/** The ref of what comes in its place, so that the next Tab begins there. */
export function takeLostFocus(place: HTMLElement | null): void {
  const { activeElement, body } = document
  if (activeElement === body || activeElement?.matches(':disabled'))
    place?.focus({ preventScroll: true })
}
