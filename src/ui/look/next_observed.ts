// Says which step of the run that is on is looked into next, because a panel asks for it.
import { observeEvery } from '../../page/client/observing.ts'
import { replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { selectIsBusy, useLab } from '../shown/run.ts'

/** Undefined while no run is on. A selector. */
export function nextObservedWords(state: LabState): string | undefined {
  if (!selectIsBusy(state)) return undefined
  if (replayStore.getState().recording) return 'The next step that was observed shows here.'
  const { observing, step, status } = state
  if (status === 'paused') return 'The present state is measured while this is in view.'
  const every = observeEvery()
  if (every === 1 || observing === undefined)
    return 'The next step is measured while this is in view.'
  if (observing <= step + 1)
    return `The next step, ${Math.max(observing, step)}, is being measured.`
  return `Step ${observing} is measured next: a software adapter is slow, so of what is in view one step in ${every} is measured.`
}

export const useNextObserved = (): string | undefined => useLab(nextObservedWords)
