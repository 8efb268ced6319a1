// Keeps the screen awake during a run, if the person wants it. A hidden page loses the lock and
// takes it again.
import { labStore } from '../../page/state/store.ts'
import { uiStore } from '../shown/store.ts'

/** What is needed of the browser; a test brings its own. */
export interface WakeHost {
  /** Undefined where the browser has no such lock. */
  request: (() => Promise<{ release(): Promise<void> }>) | undefined
  isVisible(): boolean
}

const browser = (): WakeHost => ({
  request: navigator.wakeLock ? () => navigator.wakeLock.request('screen') : undefined,
  isVisible: () => document.visibilityState === 'visible',
})

/** Holds the lock as long as it is wanted, a run is in progress and the page is visible. Returns
 * what looks again. */
export function keepAwake(host: WakeHost = browser()): () => Promise<void> {
  let lock: { release(): Promise<void> } | undefined
  let isBusy = false
  const look = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    const { status } = labStore.getState()
    const isWanted =
      uiStore.getState().keep_awake &&
      (status === 'running' || status === 'preparing') &&
      host.isVisible()
    try {
      // The browser itself releases the lock of a hidden page.
      if (!host.isVisible()) lock = undefined
      if (isWanted && !lock) lock = await host.request?.()
      else if (!isWanted && lock) {
        const held = lock
        lock = undefined
        await held.release()
      }
    } catch {
      // Refused, e.g. on a low battery: the run continues all the same.
    }
    isBusy = false
  }
  return look
}

/** Follows the run, the choice and the page. To be called once per page. */
export function followWakeLock(): void {
  const look = keepAwake()
  labStore.subscribe((state, before) => {
    if (state.status !== before.status) void look()
  })
  uiStore.subscribe((state, before) => {
    if (state.keep_awake !== before.keep_awake) void look()
  })
  document.addEventListener('visibilitychange', () => void look())
}
