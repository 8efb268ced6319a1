// Says why no step can be traced: on this page, whatever a person does, and now.
import { useStore } from 'zustand'
import { replayStore } from '../../../page/state/replay.ts'
import { selectLacksGpu } from '../../../page/state/without_gpu.ts'
import { useRecordOver } from '../../look/kept_states.ts'
import { selectIsReplaying } from '../../open/replays.ts'
import { selectIsBusy, useLab } from '../../shown/run.ts'

/** Undefined where a step of a run can be traced, now or once there is one. */
export function useWhyNoTrace(): string | undefined {
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const lacksGpu = useLab(selectLacksGpu)
  if (isReplaying) return 'A recording has only the steps that were traced when it was made.'
  return lacksGpu ? 'Tracing a step needs a GPU, and the browser gives the page none.' : undefined
}

/** What a button that traces a step says while it is off; undefined while a run is on. */
export function useTraceTip(): string | undefined {
  const isBusy = useLab(selectIsBusy)
  const isOver = useRecordOver() !== undefined
  if (isBusy) return undefined
  return isOver
    ? 'This run is over. Where a state of it is kept, “Look now” in this tab traces the step after it.'
    : 'Train first: only a step of a run can be traced'
}
