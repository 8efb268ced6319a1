/** Declares what is asked of a window; of another site, its location cannot be read. */
export interface FramedWindow {
  readonly parent: FramedWindow
  readonly location: { readonly origin: string }
}

/** Whether some page around this one is of another origin. A window without a frame is its own
 * parent. */
export function isForeignFrame(own: FramedWindow): boolean {
  try {
    for (let around = own; around.parent !== around; around = around.parent)
      if (around.parent.location.origin !== own.location.origin) return true
    return false
  } catch {
    return true
  }
}
