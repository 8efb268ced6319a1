// Makes changes to the phases on the line: longer or shorter, moved, removed, by button, key or
// pointer.
import type { KeyboardEvent, RefObject } from 'react'
import { MAX_STEPS } from '../../document/experiment/fields/phase_fields.ts'
import { movePhase, removePhase, setSteps } from '../../page/client/edits.ts'
import { formatSteps } from '../kit/format.ts'
import { refusedWords } from '../shown/names/refused.ts'
import { showToast } from '../shown/store.ts'
import type { Timeline } from './timeline.ts'

/** Shows why an edit was refused; true where it was not. */
export const tell = (problem: string | undefined): boolean => {
  if (problem !== undefined) showToast(refusedWords(problem))
  return problem === undefined
}

const segmentsOf = (list: HTMLElement | null): HTMLElement[] => [
  ...(list?.querySelectorAll<HTMLElement>('.phase-segment') ?? []),
]

export interface PhaseEdits {
  readonly lengthen: (index: number, steps: number) => void
  readonly move: (index: number, to: number) => void
  readonly remove: (index: number) => void
  readonly focusSegment: (index: number) => void
}

/** Edits do nothing where the timeline does not allow them. `onSaid` gets each in words, for people
 * who do not see it. */
export function phaseEdits(
  { phases, least, canLengthen, canMove }: Timeline,
  list: RefObject<HTMLElement | null>,
  onChosen: (index: number | undefined) => void,
  onSaid: (said: string) => void,
): PhaseEdits {
  const focusSegment = (index: number) => segmentsOf(list.current)[index]?.focus()
  return {
    focusSegment,
    lengthen: (index, steps) => {
      const wanted = Math.min(MAX_STEPS, Math.max(least(index), Math.round(steps)))
      if (wanted === phases[index].steps || !canLengthen(index)) return
      if (tell(setSteps(index, wanted)))
        onSaid(`Phase ${index + 1}, ${phases[index].name}: ${formatSteps(wanted)}`)
    },
    move: (index, to) => {
      if (to < 0 || to >= phases.length || !canMove(index) || !canMove(to)) return
      if (!tell(movePhase(index, to))) return
      onChosen(to)
      focusSegment(to)
      onSaid(`${phases[index].name} is now phase ${to + 1} of ${phases.length}`)
    },
    remove: (index) => {
      if (!canMove(index) || phases.length === 1 || !tell(removePhase(index))) return
      onChosen(undefined)
      onSaid(`Phase ${index + 1}, ${phases[index].name}, removed`)
    },
  }
}

/** Arrow keys walk along the line; with Alt they move the phase, up and down change its length,
 * Delete removes it. */
export function onSegmentKey(
  event: KeyboardEvent,
  index: number,
  steps: number,
  edits: PhaseEdits,
) {
  const { key, altKey, shiftKey } = event
  const by = shiftKey ? 10 : 1
  if (altKey && key === 'ArrowLeft') edits.move(index, index - 1)
  else if (altKey && key === 'ArrowRight') edits.move(index, index + 1)
  else if (key === 'ArrowLeft') edits.focusSegment(index - 1)
  else if (key === 'ArrowRight') edits.focusSegment(index + 1)
  else if (key === 'ArrowUp') edits.lengthen(index, steps + by)
  else if (key === 'ArrowDown') edits.lengthen(index, steps - by)
  else if (key === 'Delete') edits.remove(index)
  else return
  event.preventDefault()
}

/** The length that a key gives a phase whose boundary has the focus; undefined for other keys. */
export function keyedSteps(event: KeyboardEvent, steps: number, least: number): number | undefined {
  const by = event.shiftKey ? 10 : 1
  const changes: Readonly<Record<string, number>> = {
    ArrowRight: steps + by,
    ArrowUp: steps + by,
    ArrowLeft: steps - by,
    ArrowDown: steps - by,
    PageUp: steps + 10,
    PageDown: steps - 10,
    Home: least,
  }
  return changes[event.key]
}
