// The experiment that Train begins and a link carries, from what the settings show and what the run did.

import { sameSettings, withField } from '../experiment/experiment.ts'
import type { Experiment } from '../experiment/schema.ts'
import type { LabState } from './store.ts'
import { type Said, withVerdicts } from './taught.ts'

/**
 * The experiment that Train begins and a link carries: the run's own document while the settings are the run's, so that
 * both do the same run again; else what the settings show, from its first step.
 */
export function nextExperiment({ experiment, run_experiment, run_document }: LabState): Experiment {
  if (!run_experiment || !run_document) return experiment
  if (experiment === run_document || sameSettings(experiment, run_experiment)) return run_document
  return experiment.steering.length > 0 ? withoutSteering(experiment) : experiment
}

const unsteered = new WeakMap<Experiment, Experiment>()

/** The same object for the same experiment. */
function withoutSteering(experiment: Experiment): Experiment {
  const known = unsteered.get(experiment) ?? { ...experiment, steering: [] }
  unsteered.set(experiment, known)
  return known
}

/**
 * nextExperiment; where that is the run's own document and a person has taught its reward models, with what they said, so that
 * it repeats the run without asking.
 */
export function taughtExperiment(state: LabState): Experiment {
  const document = nextExperiment(state)
  return document === state.run_document ? withVerdicts(document, saidIn(state)) : document
}

/** What was said in each reward_model phase that has begun to train, and after which step the phase began. */
export function saidIn({ verdicts, phase, phase_step, phase_switches }: LabState): Said[] {
  return Object.entries(verdicts)
    .map(([index, said]) => ({ index: Number(index), said }))
    .filter(({ index }) => index < phase || (index === phase && phase_step > 0))
    .map(({ index, said }) => {
      const step = phase_switches.find((began) => began.phase === index)?.step ?? 0
      return { index, said, step }
    })
}

/**
 * taughtExperiment; where that is of the run, which measured its kernels, with these pinned, so that another measurement
 * cannot change its bits.
 */
export function repeatedExperiment(state: LabState): Experiment {
  const experiment = taughtExperiment(state)
  const is_of_run = nextExperiment(state) === state.run_document
  if (!is_of_run || state.kernels === '' || experiment.kernels !== '') return experiment
  const pinned = withField(experiment, 'kernels', state.kernels)
  // Too many of them for a field.
  return pinned.ok ? pinned.experiment : experiment
}
