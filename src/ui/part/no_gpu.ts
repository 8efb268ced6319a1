// Says whether this machine has no GPU to train on, and what is said of that.
import { useStore } from 'zustand'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { useLab } from '../shown/run.ts'

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
