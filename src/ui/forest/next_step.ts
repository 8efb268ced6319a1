// Proposes what to train after a run: something to compare with it, which takes little time here.
import { sameSettings } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import type { Estimate } from '../../page/paces/estimator.ts'
import { controlOf, type Trained } from './control_run.ts'

/** A person who has just seen one run waits no longer for the next. */
const MOST_SECONDS = 120

export interface NextStep {
  /** What the button does: 'Train it without the inner phase'. */
  readonly words: string
  readonly name: string
  readonly experiment: Experiment
  /** It is to be compared with the run that is over. */
  readonly isControl?: true
  /** One whose steps take as long, and which the run has timed. */
  readonly timed?: Experiment
  /** What is to be known of it beside that. */
  readonly says?: string | undefined
}

const REPEATED =
  'It begins with the settings that this run began with, and what was changed by hand is changed again after the same steps.'

const ALL_LEFT_OUT =
  'Every inner phase is left out, one that was inserted by hand too; the whole model trains for their steps.'

/** The same run without its inner phases; undefined where it has none. */
function withoutInner(run: Trained): NextStep | undefined {
  const control = controlOf(run)
  if (!control) return undefined
  const { experiment, changes, inner } = control
  const says = [inner > 1 ? ALL_LEFT_OUT : '', changes > 0 ? REPEATED : ''].filter(Boolean)
  return {
    words: inner > 1 ? 'Train it without the inner phases' : 'Train it without the inner phase',
    name: experiment.name ?? 'the run without its inner phase',
    experiment,
    isControl: true,
    // The run was timed under the settings that it ended with.
    timed: { ...run.experiment, phases: experiment.phases, steering: [] },
    says: says.length > 0 ? says.join(' ') : undefined,
  }
}

type Offer = readonly [preset: string, words: string]

/** From nothing: the warm start too is seen. */
const FROM_NOTHING: Offer = ['tiny', 'Train a model from random weights']
const STORIES: readonly Offer[] = [
  ['story-ends', 'Teach a storyteller happy ends'],
  ['story-animals', 'Reward stories of a chosen animal'],
  ['story-warm-words', 'Reward warm words, which a loop satisfies'],
]

/** What goes on from a run: other stories after one of stories, stories after one from random
 * weights. */
function offersAfter({ task, model }: Experiment): readonly Offer[] {
  if (task.id === 'story') return STORIES
  return model.source === null ? STORIES.slice(0, 1) : [FROM_NOTHING]
}

/** Presets other than what was just trained. */
const presetsAfter = (run: Experiment): readonly NextStep[] =>
  offersAfter(run).flatMap(([id, words]) => {
    const preset = presetOf(id)
    if (!preset || sameSettings({ ...preset.experiment, seed: run.seed }, run)) return []
    const { name, experiment } = preset
    return [{ words, name, experiment }]
  })

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
  run: Trained,
  estimate: (experiment: Experiment) => Estimate | undefined,
  worseThan?: string,
): (NextStep & { readonly estimate: Estimate }) | undefined {
  const { experiment } = run
  const back = worseThan === undefined ? undefined : asPreset(experiment, worseThan)
  for (const step of [back, withoutInner(run), ...presetsAfter(experiment)]) {
    const time = step && (estimate(step.experiment) ?? (step.timed && estimate(step.timed)))
    if (step && time && time.seconds < MOST_SECONDS) return { ...step, estimate: time }
  }
  return undefined
}
