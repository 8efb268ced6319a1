// Draws, on the line of phases, where a run was changed by hand, and where the next one will be
// again.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { doneByHand } from '../../../document/experiment/steering/steered_kernels.ts'
import type { EditMark } from '../../scales/geometry.ts'
import { plannedChanges } from './planned_changes.ts'
import './planned.css'

/** A mark, and where it stands in its phase, 0 … 1. */
type PlacedMark = EditMark & { readonly phase: number; readonly share: number }

/** The changes that can be placed on the phases that a run begins with: those up to the first that
 * moves the phases. */
export function placedMarks({ phases, steering }: Experiment): readonly PlacedMark[] {
  const { placed } = plannedChanges(doneByHand(steering))
  const lengths = phases.map(({ steps }) => steps)
  return marksOn(lengths, placed)
}

/** Marks on phases that take so many steps each. */
export function marksOn(
  lengths: readonly number[],
  marks: readonly EditMark[],
): readonly PlacedMark[] {
  const ends: number[] = []
  for (const steps of lengths) ends.push((ends.at(-1) ?? 0) + steps)
  return marks.flatMap((mark) => {
    const phase = ends.findIndex((end) => mark.step <= end)
    if (phase < 0) return []
    const share = 1 - (ends[phase] - mark.step) / lengths[phase]
    return [{ ...mark, phase, share }]
  })
}

/** `isDone`: of the run on the line; else of the next one, which repeats them. */
export const PlannedMarks = (props: {
  readonly marks: readonly PlacedMark[]
  readonly isDone: boolean
  readonly index: number
}) =>
  props.marks
    .filter(({ phase }) => phase === props.index)
    .map(({ step, words, share }) => {
      const said = `After step ${step}, by hand${props.isDone ? '' : ' again'}: ${words}`
      return (
        <span
          key={step}
          className="phase-planned"
          data-testid="phase-planned"
          role="img"
          aria-label={said}
          title={said}
          style={{ left: `${100 * share}%` }}
        />
      )
    })
