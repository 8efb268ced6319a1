// Looks for a GPU once more and says what came of it. Loaded by the first press: most visitors
// never need it.
import { reset } from '../../page/client/starting.ts'
import { labStore } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { showToast } from '../shown/store.ts'

let isLooking = false

/** Asks the browser for a GPU again; a toast tells the answer. */
export function findGpu(): void {
  if (isLooking) return
  isLooking = true
  reset()
  showToast('Looking for a GPU …')
  const tell = (): boolean => {
    const state = labStore.getState()
    const { adapter, error } = state
    if (!adapter && !error) return false
    isLooking = false
    if (selectLacksGpu(state))
      showToast('The browser still gives no GPU. “What training needs” says what can be done.')
    else showToast(error?.message ?? 'Found a GPU: you can train now.')
    return true
  }
  if (tell()) return
  const stop = labStore.subscribe(() => {
    if (tell()) stop()
  })
}
