// Turns a document that says what was done by hand to a run into settings that another run can
// begin with: its phases are a plan, and values that changed on the way still change.
import { parseExperiment } from '../experiment.ts'
import { isPairedDocument, type PhaseDocument } from '../fields/phases.ts'
import type { Experiment } from '../schema/schema.ts'
import type { SteeringEntry } from '../steering/actions.ts'
import { plannedStretches } from './planned.ts'

const known = new WeakMap<Experiment, Experiment>()

/** The phases that the run goes through, inserted ones too, each as long as it is; a field that was
 * set on the way begins as it did and is set after the same step. Kernels are the adapter's own.
 * The same object where nothing was done by hand. */
export function asSettings(experiment: Experiment): Experiment {
  if (experiment.steering.length === 0) return experiment
  const before = known.get(experiment)
  if (before) return before
  const settings = { ...experiment, ...plannedOf(experiment) }
  const parsed = parseExperiment(settings)
  const own = parsed.ok ? parsed.experiment : { ...settings, steering: [] }
  known.set(experiment, own)
  return own
}

function plannedOf(experiment: Experiment): Pick<Experiment, 'phases' | 'steering'> {
  const { steering, phases } = experiment
  const edits = steering.filter(({ kind }) => kind !== 'kernels')
  if (edits.every(isSet)) return { phases, steering: edits }
  const trained = trainedPhases(experiment)
  return {
    phases: trained.map(phaseOf),
    steering: edits.filter(isSet).flatMap((entry) => placedIn(trained, entry)),
  }
}

type SetEntry = SteeringEntry & { readonly kind: 'set' }
const isSet = (entry: SteeringEntry): entry is SetEntry => entry.kind === 'set'

interface TrainedPhase {
  /** In the list of phases as it was then. */
  readonly index: number
  /** As it began. */
  readonly phase: PhaseDocument
  readonly after: number
  readonly taken: number
}

/** Several stretches of one phase are one: something was done in the middle of it. */
function trainedPhases(experiment: Experiment): readonly TrainedPhase[] {
  const trained = new Map<number, TrainedPhase>()
  for (const { phase: index, document, from, to } of plannedStretches(
    experiment,
    experiment.steering,
  )) {
    const begun = trained.get(index) ?? { index, phase: document, after: from, taken: 0 }
    trained.set(index, { ...begun, taken: begun.taken + to - from })
  }
  return [...trained.values()]
}

function phaseOf({ phase, taken }: TrainedPhase): PhaseDocument {
  if (taken === phase.steps) return phase
  return isPairedDocument(phase)
    ? { ...phase, steps: taken }
    : { ...phase, steps: taken, epochs: null }
}

/** The entry as it is said of these phases; none where a phase began with it, or has its length. */
function placedIn(trained: readonly TrainedPhase[], entry: SetEntry): readonly SteeringEntry[] {
  const [, index, field] = /^phases\.(\d+)\.(.+)$/.exec(entry.path) ?? []
  if (index === undefined) return [entry]
  const at = trained.findIndex((own) => own.index === Number(index))
  if (at < 0 || entry.step <= trained[at].after || /^(steps|epochs)$/.test(field)) return []
  return [{ ...entry, path: `phases.${at}.${field}` }]
}
