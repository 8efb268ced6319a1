// Says why no step can be traced on this page, whatever a person does.
import { useStore } from 'zustand'
import { replayStore } from '../../../page/state/replay.ts'
import { selectLacksGpu } from '../../../page/state/without_gpu.ts'
import { selectIsReplaying } from '../../open/replays.ts'
import { useLab } from '../../shown/run.ts'

/** Undefined where a step of a run can be traced, now or once there is one. */
export function useWhyNoTrace(): string | undefined {
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const lacksGpu = useLab(selectLacksGpu)
  if (isReplaying) return 'A recording has only the steps that were traced when it was made.'
  return lacksGpu ? 'Tracing a step needs a GPU, and the browser gives the page none.' : undefined
}
