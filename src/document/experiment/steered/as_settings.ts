// Turns a document that says what was done by hand to a run into settings that hold from the first
// step.
import { followExperiment, parseExperiment } from '../experiment.ts'
import { isPairedDocument, type PhaseDocument } from '../fields/phases.ts'
import type { Experiment } from '../schema/schema.ts'
import { plannedStretches } from './planned.ts'

const known = new WeakMap<Experiment, Experiment>()

/** The phases that the run goes through, inserted ones too, each as long as it is; fields as the
 * last change left them. The same object where nothing was done by hand. */
export function asSettings(experiment: Experiment): Experiment {
  if (experiment.steering.length === 0) return experiment
  const before = known.get(experiment)
  if (before) return before
  const { experiments } = followExperiment(experiment, () => {})
  const last = experiments.at(-1) ?? experiment
  const parsed = parseExperiment({ ...last, phases: phasesOf(experiment), steering: [] })
  const settings = parsed.ok ? parsed.experiment : { ...experiment, steering: [] }
  known.set(experiment, settings)
  return settings
}

/** Several stretches of one phase are one: something was done in the middle of it. */
function phasesOf(experiment: Experiment): PhaseDocument[] {
  const steps = new Map<number, { readonly phase: PhaseDocument; readonly taken: number }>()
  for (const { phase, document, from, to } of plannedStretches(experiment, experiment.steering)) {
    const taken = (steps.get(phase)?.taken ?? 0) + to - from
    steps.set(phase, { phase: document, taken })
  }
  return [...steps.values()].map(({ phase, taken }) => {
    if (taken === phase.steps) return phase
    return isPairedDocument(phase)
      ? { ...phase, steps: taken }
      : { ...phase, steps: taken, epochs: null }
  })
}
