// Marks in charts what was changed while the run went on.
import { useMemo } from 'react'
import { lasting } from '../../../document/experiment/steered/lasting.ts'
import { MARKS_PHASE } from '../../../document/experiment/steered/planned.ts'
import type { SteeringEntry } from '../../../document/experiment/steering/actions.ts'
import { steeringWords } from '../../../document/experiment/steering/words.ts'
import type { LabState } from '../../../page/state/store.ts'
import type { EditMark } from '../../scales/geometry.ts'
import { useShown } from '../../shown/shown.ts'

const NOTHING: readonly SteeringEntry[] = []
const selectSteered = (state: LabState) => state.steered
const selectSteering = ({ runDocument }: LabState) => runDocument?.steering ?? NOTHING

/** What was changed while the run went on, for markers: those of one step together. */
export function useEditMarks(): readonly EditMark[] {
  const steered = useShown(selectSteered)
  const steering = useShown(selectSteering)
  return useMemo(() => editMarks(lasting({ steered, steering })), [steered, steering])
}

/** What charts mark of it. */
export const editMarks = (done: readonly SteeringEntry[]): EditMark[] =>
  stepMarks(done.filter(({ kind }) => !MARKS_PHASE.includes(kind)))

/** The changes after each step; of a field that was set more than once after a step, the last
 * value. */
export function stepMarks(entries: readonly SteeringEntry[]): EditMark[] {
  const marks = new Map<number, Map<unknown, string>>()
  for (const entry of entries) {
    const words = marks.get(entry.step) ?? new Map<unknown, string>()
    words.set(entry.kind === 'set' ? entry.path : entry, steeringWords(entry))
    marks.set(entry.step, words)
  }
  return [...marks].map(([step, words]) => ({ step, words: [...words.values()].join(', ') }))
}
