// Makes the document of a run in which a person taught reward models: it says what they said, so
// that it does the same run again.
import { parseExperiment, withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringAction, SteeringEntry } from '../../document/experiment/steering/actions.ts'

/** What was said in one phase of pairs, as its field `pairs.verdicts` holds it. */
export interface Said {
  /** Index of the phase in the run. */
  readonly index: number
  readonly said: string
  /** The phase began after this step. */
  readonly step: number
}

/** After these a phase of the run has another place than in the document, or none. */
const MOVES: readonly SteeringAction['kind'][] = [
  'insert_phase',
  'interrupt_phase',
  'follow_phase',
  'repeat_phase',
  'append_phase',
  'remove_phase',
  'move_phase',
]

/** The document with the verdicts of its run. They are in the phases; where steering changed the
 * list, as entries that fill them in where each phase begins. The same document where there are
 * none, or where they do not fit it. */
export function withVerdicts(document: Experiment, all: readonly Said[]): Experiment {
  const hasMoved = document.steering.some(({ kind }) => MOVES.includes(kind))
  return all.reduce((taught, said) => {
    // The first phase has begun before anything can be done to it.
    if (hasMoved && said.index > 0) return withEntry(taught, said)
    if (said.said === '') return taught
    const result = withField(taught, pathOf(said), said.said)
    return result.ok ? result.experiment : taught
  }, document)
}

const pathOf = ({ index }: Said) => `phases.${index}.pairs.verdicts`

function withEntry(document: Experiment, said: Said): Experiment {
  const path = pathOf(said)
  const { step } = said
  const value = said.said === '' ? null : said.said
  const isOwn = (entry: SteeringEntry) =>
    entry.kind === 'set' && entry.path === path && entry.step === step
  const others = document.steering.filter((entry) => !isOwn(entry))
  // A repeated phase begins with the verdicts of the one it repeats, even where it had none of its
  // own.
  if (value === null && !others.some(({ kind }) => kind === 'repeat_phase')) return document
  const at = others.findLastIndex((entry) => entry.step <= step) + 1
  const steering = others.toSpliced(at, 0, { step, kind: 'set', path, value })
  const parsed = parseExperiment({ ...document, steering })
  return parsed.ok ? parsed.experiment : document
}
