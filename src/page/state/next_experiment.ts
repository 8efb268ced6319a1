// Makes the experiment that Train begins and a link carries, from what the settings show and what
// the run did.

import { sameSettings, withField } from '../../document/experiment/experiment.ts'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { asTrained, trainedPhases } from '../../document/experiment/steered/as_trained.ts'
import type { RunSoFar } from '../../document/experiment/steered/planned.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import type { LabState } from './store.ts'
import { type Said, withVerdicts } from './taught.ts'

/** Whether the settings are what the run trains now. */
export const isOfRun = ({ isBeside, experiment, runExperiment }: LabState): boolean =>
  !isBeside && runExperiment !== undefined && sameSettings(experiment, runExperiment)

/** The experiment that Train begins and a link carries: the run's own document while the settings
 * are the run's, so that both do the same run again; else what the settings show, from its first
 * step. */
export function nextExperiment(state: LabState): Experiment {
  const { experiment, runExperiment, runDocument } = state
  if (!runExperiment || !runDocument || state.isBeside) return experiment
  if (experiment === runDocument || isOfRun(state)) return runDocument
  const own = experiment.steering.length > 0 ? withoutSteering(experiment) : experiment
  return isBusy(state) ? shortened(own, state) : own
}

/** While a run continues, the phases that a person has ended are as long in its settings as they
 * were planned. */
function shortened(experiment: Experiment, state: LabState): Experiment {
  const { phase_switches, steered } = state
  const known = shorter.get(experiment)
  const of = [phase_switches, steered, state.step]
  if (known?.of.every((part, i) => part === of[i])) return known.experiment
  const after = settledSettings(experiment, state)
  // What is the same stays the same object.
  const isSame = known && JSON.stringify(known.experiment) === JSON.stringify(after)
  const next = isSame ? known.experiment : after
  shorter.set(experiment, { of, experiment: next })
  return next
}

const shorter = new WeakMap<Experiment, { of: readonly unknown[]; experiment: Experiment }>()

/** Settings that have left the run on the page, with phases as long as the run made them
 * (asTrained). */
export function settledSettings(experiment: Experiment, state: LabState): Experiment {
  const { runExperiment } = state
  return runExperiment ? asTrained(experiment, { ...state, experiment: runExperiment }) : experiment
}

/** The settings after an edit made them `next`, while no run is on: where they leave the run they
 * keep what it has done, and where they come back to that they are the run's again. */
export function editedSettings(next: Experiment, state: LabState): Experiment {
  const { runExperiment, isBeside } = state
  if (!runExperiment || isBeside || isBusy(state) || sameSettings(next, runExperiment)) return next
  if (isOfRun(state)) return settledSettings(next, state)
  return sameSettings(next, settledSettings(runExperiment, state)) ? runExperiment : next
}

/** A list of phases that was made of the settings', of which those of the run on the page become as
 * long as they were. */
export function settledPhases(
  phases: readonly PhaseDocument[],
  state: LabState,
): readonly PhaseDocument[] {
  const { experiment, runExperiment } = state
  if (!runExperiment || isBusy(state) || !isOfRun(state)) return phases
  const trained = trainedPhases(experiment.phases, { ...state, experiment: runExperiment })
  return phases.flatMap((phase) => {
    const index = experiment.phases.indexOf(phase)
    return index < 0 ? [phase] : (trained[index] ?? [])
  })
}

const unsteered = new WeakMap<Experiment, Experiment>()

/** The same object for the same experiment. */
function withoutSteering(experiment: Experiment): Experiment {
  const known = unsteered.get(experiment) ?? { ...experiment, steering: [] }
  unsteered.set(experiment, known)
  return known
}

/** What planned.ts goes by: the run, or the one that the settings would begin. */
export function runSoFar(state: LabState): RunSoFar {
  const { runExperiment, runDocument, experiment } = state
  const { steering } = runDocument ?? experiment
  return { ...state, experiment: runExperiment ?? experiment, steering }
}

/** nextExperiment; where that is the run's own document and a person has taught its reward models,
 * with what they said, so that it repeats the run without asking. */
export function taughtExperiment(state: LabState): Experiment {
  const document = nextExperiment(state)
  return document === state.runDocument ? withVerdicts(document, saidIn(state)) : document
}

/** What was said in each phase of pairs that has begun to train, and after which step the phase
 * began. */
export function saidIn({ verdicts, phase, phase_step, phase_switches }: LabState): Said[] {
  return Object.entries(verdicts)
    .map(([index, said]) => ({ index: Number(index), said }))
    .filter(({ index }) => index < phase || (index === phase && phase_step > 0))
    .map(({ index, said }) => {
      const step = phase_switches.find((began) => began.phase === index)?.step ?? 0
      return { index, said, step }
    })
}

/** taughtExperiment; where that is of the run, which measured its kernels, with these pinned, so
 * that another measurement cannot change its bits. */
export function repeatedExperiment(state: LabState): Experiment {
  const experiment = taughtExperiment(state)
  const isRepeated = nextExperiment(state) === state.runDocument
  if (!isRepeated || state.kernels === '' || experiment.kernels !== null) return experiment
  const pinned = withField(experiment, 'kernels', state.kernels)
  // Too many of them for a field.
  return pinned.ok ? pinned.experiment : experiment
}
