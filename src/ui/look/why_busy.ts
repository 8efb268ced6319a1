// Says why nothing can be trained, continued or measured on the GPU now.
import { useStore } from 'zustand'
import { replayStore } from '../../page/state/replay.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { selectIsBusy, useLab } from '../shown/run.ts'

/** Of what is offered all the same, so that people see what there is. */
export const NEEDS_GPU = 'This needs a GPU, and the browser gives the page none'

/** Undefined where it can. */
export function useWhyBusy(): string | undefined {
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const isBusy = useLab(selectIsBusy)
  const lacksGpu = useLab(selectLacksGpu)
  if (isReplaying) return 'A recording is open: leave it first'
  if (isBusy) return 'A run is in progress: finish or reset it first'
  return lacksGpu ? NEEDS_GPU : undefined
}
