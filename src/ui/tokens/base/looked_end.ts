// Names the step whose responses are shown: a look at the last state of a run takes one that the
// run has not.
import type { LabState } from '../../../page/state/store.ts'
import { useRecordOver } from '../../look/kept_states.ts'
import { usePresent } from '../../shown/shown.ts'

const selectLastStep = ({ step }: LabState) => step

/** The last step of a run that is over, where responses are of a look at its last state. */
export function useLookedEnd(step: number): number | undefined {
  const isOver = useRecordOver() !== undefined
  const last = usePresent(selectLastStep)
  return isOver && step > last ? last : undefined
}

/** 'Step 12', or which state was looked at. */
export function useStepName(step: number): string {
  const end = useLookedEnd(step)
  return end === undefined ? `Step ${step}` : `After step ${end}`
}
