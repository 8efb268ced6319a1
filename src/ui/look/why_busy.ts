// Says why nothing can be trained, continued or measured on the GPU now.
import { useStore } from 'zustand'
import { replayStore } from '../../page/state/replay.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { NEEDS_GPU, useHasNoGpu } from '../part/no_gpu.ts'
import { selectIsBusy, useLab } from '../shown/run.ts'

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
