// Makes the control of a run: the same run from its own starting settings, without its inner
// phases, and with what was changed by hand changed again after the same steps.
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { OPENING } from '../../document/presets/presets.ts'

/** A run that is over. */
export interface Trained {
  /** As it began, and what was done to it. */
  readonly document: Experiment
  /** As it ended: each phase is as long as it was. */
  readonly experiment: Experiment
}

/** The length of a phase that was changed by hand is part of the plan: nothing has to be done
 * again. */
const LENGTH = /^phases\.\d+\.(steps|epochs)$/
const OF_PHASE = /^phases\.(\d+)\.(.*)$/

type Set = Extract<SteeringEntry, { kind: 'set' }>

const isSet = (entry: SteeringEntry): entry is Set => entry.kind === 'set'

/** The phases as the run began them, as long as they were; where a person inserted or ended some,
 * as they were at last. */
function trainedPhases({ document, experiment }: Trained, byHand: readonly SteeringEntry[]) {
  if (!byHand.every(isSet)) return experiment.phases
  return document.phases.map((phase, i): PhaseDocument => {
    const { steps, ...own } = experiment.phases[i]
    return { ...phase, steps, ...('epochs' in own && { epochs: own.epochs }) } as PhaseDocument
  })
}

/** An entry in the list without inner phases; undefined for one of an inner phase. `kept`: the
 * places of the phases that stay. */
function moved(entry: Set, phases: readonly PhaseDocument[], kept: readonly number[]) {
  const [, place, rest] = OF_PHASE.exec(entry.path) ?? []
  if (place === undefined) return entry
  const index = kept.indexOf(Number(place))
  if (index < 0) return undefined
  const begins = phases.slice(0, Number(place)).reduce((sum, { steps }) => sum + steps, 0)
  // What was set before the phase began is set from the start: it begins earlier now.
  const step = entry.step <= begins ? 0 : entry.step
  return { ...entry, path: `phases.${index}.${rest}`, step }
}

/** undefined where the run has no inner phase before one of the whole model, or where what was done
 * to it cannot be done to a run without. `changes`: how many are made again; `inner`: how many
 * phases it leaves out, those that a person inserted too. */
export function controlOf(run: Trained):
  | {
      readonly experiment: Experiment
      readonly changes: number
      readonly inner: number
    }
  | undefined {
  const { document } = run
  const byHand = doneByHand(document.steering)
  const sets = byHand.filter(isSet).filter(({ path }) => !LENGTH.test(path))
  // In a list of phases that a person has changed, a place means no phase for certain.
  if (!byHand.every(isSet) && sets.some(({ path }) => OF_PHASE.test(path))) return undefined
  const before = trainedPhases(run, byHand)
  const kept: number[] = []
  let given = 0
  const phases = before.flatMap((phase, i): PhaseDocument[] => {
    const isInner =
      phase.kind === 'rl' &&
      phase.target_layer !== 'final' &&
      phase.target_layer < document.model.num_hidden_layers
    if (isInner) {
      given += phase.steps
      return []
    }
    kept.push(i)
    if (phase.kind !== 'rl') return [phase]
    const steps = phase.steps + given
    given = 0
    return [{ ...phase, steps }]
  })
  const inner = before.length - phases.length
  if (inner === 0 || given > 0) return undefined
  const steering = sets.flatMap((entry) => moved(entry, before, kept) ?? [])
  // The name of the opening run speaks of the phase that the control leaves out.
  const own = document.name === OPENING.name ? 'First run' : document.name?.trim()
  const name = own
    ? inner === 1
      ? `${own}, without its inner phase`
      : `${own}, without its inner phases`
    : null
  const parsed = parseExperiment({ ...document, name, phases, steering })
  return parsed.ok ? { experiment: parsed.experiment, changes: steering.length, inner } : undefined
}
