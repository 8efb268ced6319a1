// One clock for everything that redraws: after a change, in an animation frame, at most ten times a second.
import { overlayStore } from './overlays.ts'
import { shownStore } from './shown.ts'
import { uiStore } from './store.ts'

const REDRAW_MS = 100

/**
 * Counts `frame` up after changes of the shown run and of the runs behind it. Animation frames stop in hidden tabs, and so
 * does this.
 */
export function startTicker(): void {
  let drawn_at = Number.NEGATIVE_INFINITY
  let waiting = false
  const tick = (now: number) => {
    if (now - drawn_at < REDRAW_MS) {
      requestAnimationFrame(tick)
      return
    }
    waiting = false
    drawn_at = now
    uiStore.setState(({ frame }) => ({ frame: frame + 1 }))
  }
  const wait = () => {
    if (waiting) return
    waiting = true
    requestAnimationFrame(tick)
  }
  shownStore.subscribe(wait)
  overlayStore.subscribe(wait)
}
