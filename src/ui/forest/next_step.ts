// Proposes what to train after a run: something to compare with it, which takes little time here.
import { parseExperiment, sameSettings } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import type { Estimate } from '../../page/paces/estimator.ts'

/** A person who has just seen one run waits no longer for the next. */
const MOST_SECONDS = 120

export interface NextStep {
  /** What the button does: 'Train it without the inner phase'. */
  readonly words: string
  readonly name: string
  readonly experiment: Experiment
}

/** The same run with the steps of its inner phases given to the phase of the whole model behind
 * them; undefined where it has none. */
function withoutInner(run: Experiment): NextStep | undefined {
  const last = run.model.num_hidden_layers
  let given = 0
  const phases = run.phases.flatMap((phase) => {
    const isInner =
      phase.kind === 'rl' && phase.target_layer !== 'final' && phase.target_layer < last
    if (isInner) given += phase.steps
    if (isInner || phase.kind !== 'rl') return isInner ? [] : [phase]
    const steps = phase.steps + given
    given = 0
    return [{ ...phase, steps }]
  })
  if (phases.length === run.phases.length || given > 0) return undefined
  const name = 'The same run without its inner phase'
  const parsed = parseExperiment({ ...run, name, phases, steering: [] })
  return parsed.ok
    ? { words: 'Train it without the inner phase', name, experiment: parsed.experiment }
    : undefined
}

/** From nothing: the warm start too is seen. */
function fromNothing(run: Experiment): NextStep | undefined {
  const preset = presetOf('tiny')
  if (!preset || sameSettings({ ...preset.experiment, seed: run.seed }, run)) return undefined
  const { name, experiment } = preset
  return { words: 'Train a model from random weights', name, experiment }
}

/** What ruined a run is what sets it apart from its preset. */
function asPreset(run: Experiment, id: string): NextStep | undefined {
  const preset = presetOf(id)
  if (!preset) return undefined
  const { name } = preset
  const experiment = { ...preset.experiment, seed: run.seed }
  return sameSettings(experiment, run)
    ? undefined
    : { words: 'Train it with the preset’s settings', name, experiment }
}

/** The one next step: the first that takes less than two minutes on this adapter; undefined where
 * none is known to. `worseThan`: the preset of a run that ended worse than it began. */
export function nextStep(
  run: Experiment,
  estimate: (experiment: Experiment) => Estimate | undefined,
  worseThan?: string,
): (NextStep & { readonly estimate: Estimate }) | undefined {
  const back = worseThan === undefined ? undefined : asPreset(run, worseThan)
  for (const step of [back, withoutInner(run), fromNothing(run)]) {
    const time = step && estimate(step.experiment)
    if (step && time && time.seconds < MOST_SECONDS) return { ...step, estimate: time }
  }
  return undefined
}
