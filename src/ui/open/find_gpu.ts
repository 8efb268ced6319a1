// Looks for a GPU once more and says what came of it; without one the first screen says what
// training needs. Loaded where it is needed: most visitors never do.
import { createStore } from 'zustand/vanilla'
import { reset } from '../../page/client/starting.ts'
import { labStore } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { openTab, showToast } from '../shown/store.ts'

/** Whether the first screen says what training needs. */
export const needsStore = createStore<{
  /** A new object brings it into sight again; undefined while it is folded. */
  readonly asked: object | undefined
}>(() => ({ asked: undefined }))

export const showNeeds = (): void => needsStore.setState({ asked: {} })

export const hideNeeds = (): void => needsStore.setState({ asked: undefined })

let isLooking = false

/** Asks the browser for a GPU again; a toast tells the answer. */
export function findGpu(): void {
  if (isLooking) return
  isLooking = true
  const isShown = needsStore.getState().asked !== undefined
  reset()
  showToast('Looking for a GPU …')
  const tell = (): boolean => {
    const state = labStore.getState()
    const { adapter, error } = state
    if (!adapter && !error) return false
    isLooking = false
    if (selectLacksGpu(state)) {
      // The first screen says what can be done, and the panel of errors says it to all who listen;
      // one that was open says nothing new.
      showToast(isShown ? 'The browser still gives the page no GPU.' : '')
      openTab('learn')
      showNeeds()
    } else showToast(error?.message ?? 'Found a GPU: you can train now.')
    return true
  }
  if (tell()) return
  const stop = labStore.subscribe(() => {
    if (tell()) stop()
  })
}
