// Runs one clock for everything that redraws: after a change, in an animation frame, at most ten
// times a second; five where no GPU draws.
import { labStore } from '../../page/state/store.ts'
import { overlayStore } from './overlays.ts'
import { shownStore } from './shown.ts'
import { uiStore } from './store.ts'

const REDRAW_MS = 100
/** There the page is painted on the cores that train. */
const REDRAW_WITHOUT_GPU_MS = 200

/** Counts `frame` up after changes of the shown run and of the runs behind it. Animation frames
 * stop in hidden tabs, and so does this. Between two counts no animation frame is asked for: each
 * costs a look through the whole page. */
export function startTicker(): void {
  let drawnAt = Number.NEGATIVE_INFINITY
  let waiting = false
  const tick = (now: number) => {
    waiting = false
    drawnAt = now
    uiStore.setState(({ frame }) => ({ frame: frame + 1 }))
  }
  const wait = () => {
    if (waiting) return
    waiting = true
    const { adapter } = labStore.getState()
    const everyMs = adapter?.is_software ? REDRAW_WITHOUT_GPU_MS : REDRAW_MS
    const rest = drawnAt + everyMs - performance.now()
    if (rest > 0) setTimeout(() => requestAnimationFrame(tick), rest)
    else requestAnimationFrame(tick)
  }
  shownStore.subscribe(wait)
  overlayStore.subscribe(wait)
}
