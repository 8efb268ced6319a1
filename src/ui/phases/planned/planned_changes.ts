// Tells which of the changes that a run will repeat stand where the phases of its start have them.
import type { SteeringEntry } from '../../../document/experiment/steering/actions.ts'
import { stepMarks } from '../../plot/base/edit_marks.ts'
import type { EditMark } from '../../scales/geometry.ts'

/** Whether the steps after it belong to other phases than before. */
const movesPhases = (entry: SteeringEntry): boolean =>
  entry.kind !== 'set' || /^phases\.\d+\.(steps|epochs)$/.test(entry.path)

export interface PlannedChanges {
  /** Up to the first that moves phases, and it. */
  readonly placed: readonly EditMark[]
  readonly movesPhases: boolean
}

export function plannedChanges(entries: readonly SteeringEntry[]): PlannedChanges {
  const first = entries.find(movesPhases)
  const placed = entries.filter(({ step }) => first === undefined || step <= first.step)
  return { placed: stepMarks(placed), movesPhases: first !== undefined }
}
