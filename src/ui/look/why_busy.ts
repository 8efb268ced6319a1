// Says why nothing can be trained, continued or measured on the GPU now.
import { useStore } from 'zustand'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { selectIsBusy, useLab } from '../shown/run.ts'

/** Of what is offered all the same, so that people see what there is. */
export const NEEDS_GPU = 'This needs a GPU, and the browser gives the page none'

const selectHidesNoGpu = ({ recording, own }: ReplayState) =>
  recording !== undefined && own === undefined

/** Whether this machine has no GPU to train on, also while a recording plays. */
export function useHasNoGpu(): boolean {
  const lacksGpu = useLab(selectLacksGpu)
  const hidesIt = useStore(replayStore, selectHidesNoGpu)
  return lacksGpu || hidesIt
}

/** Undefined where it can. */
export function useWhyBusy(): string | undefined {
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const isBusy = useLab(selectIsBusy)
  const hasNoGpu = useHasNoGpu()
  // To leave the recording would not help.
  if (hasNoGpu) return NEEDS_GPU
  if (isReplaying) return 'A recording is open: leave it first'
  return isBusy ? 'A run is in progress: finish or reset it first' : undefined
}
