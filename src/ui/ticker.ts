// One clock for everything that redraws: after a change, in an animation frame, at most ten times a second.
import { labStore } from '../lab/store.ts'
import { uiStore } from './store.ts'

const REDRAW_MS = 100

/** Counts `frame` up after changes of the lab. Animation frames stop in hidden tabs, and so does this. */
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
  labStore.subscribe(() => {
    if (waiting) return
    waiting = true
    requestAnimationFrame(tick)
  })
}
