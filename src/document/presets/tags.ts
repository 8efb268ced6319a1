// Gives each preset the tags by which the gallery finds it: its task, its methods and the size of
// its model, all read from its experiment.

import { asksTeacher } from '../../rl/config/algorithm.ts'
import { TASKS } from '../../tasks/index.ts'
import { weightCount } from '../experiment/costs/costs.ts'
import type { RlDocument } from '../experiment/fields/phases.ts'
import { preferenceLabel } from '../experiment/fields/preference_fields.ts'
import { settingsOf } from '../experiment/schema/phase_settings.ts'
import type { Experiment } from '../experiment/schema/schema.ts'
import { methodName } from './method_name.ts'

export interface Tags {
  readonly task: string
  readonly methods: readonly string[]
  readonly size: string
}

/** What is chosen of each kind; '' for any. */
export interface Wanted {
  readonly task: string
  readonly method: string
  readonly size: string
}

export const ANY: Wanted = { task: '', method: '', size: '' }

/** From small to large; the first that holds the model is its tag. */
const SIZES: readonly (readonly [mostWeights: number, name: string])[] = [
  [50_000, 'Tiny: below 50k weights'],
  [1_000_000, 'Small: below 1M weights'],
  [Number.POSITIVE_INFINITY, 'Large: a model from elsewhere'],
]

const DISTILLATION = 'Distillation'

function phaseMethods(experiment: Experiment, phase: RlDocument): string[] {
  return [
    methodName(experiment, phase),
    ...(phase.target_layer === 'final' ? [] : ['BuPO']),
    ...(phase.reward_model.enable ? ['RLHF'] : []),
    ...(asksTeacher(settingsOf(experiment, phase)) ? [DISTILLATION] : []),
    ...(settingsOf(experiment, phase).actor.inner.layers === null
      ? []
      : ['Inner layers learn along']),
  ]
}

/** The tags of an experiment. */
export function tagsOf(experiment: Experiment): Tags {
  const { phases, task, tools, model } = experiment
  const methods = phases.flatMap((phase) => {
    if (phase.kind === 'rl') return phaseMethods(experiment, phase)
    if (phase.kind === 'distill') return DISTILLATION
    return phase.kind === 'preference' ? preferenceLabel(phase.preference) : []
  })
  const weights = weightCount(experiment)
  return {
    task: TASKS.find(({ id }) => id === task.id)?.name ?? task.id,
    methods: [
      ...new Set(methods),
      ...(tools.length > 0 ? ['Tools'] : []),
      ...(model.lora.r > 0 ? ['LoRA'] : []),
      ...(model.steering_vectors.trainable ? ['Steering vectors'] : []),
    ],
    size: (SIZES.find(([most]) => weights < most) ?? SIZES[SIZES.length - 1])[1],
  }
}

/** Whether tags have all that is wanted. */
export const hasTags = ({ task, methods, size }: Tags, wanted: Wanted): boolean =>
  (wanted.task === '' || wanted.task === task) &&
  (wanted.method === '' || methods.includes(wanted.method)) &&
  (wanted.size === '' || wanted.size === size)

/** Every value that occurs, in the order of the presets. */
export function choicesOf(all: readonly Tags[]) {
  const unique = (values: readonly string[]) => [...new Set(values)]
  const sizes = all.map(({ size }) => size)
  return {
    task: unique(all.map(({ task }) => task)),
    method: unique(all.flatMap(({ methods }) => methods)),
    size: SIZES.map(([, name]) => name).filter((name) => sizes.includes(name)),
  }
}

/** From the smallest model to the largest, what is quick before what is slow; those of one size in
 * the order of the menu. */
export function smallFirst<T extends { readonly tags: Tags }>(all: readonly T[]): readonly T[] {
  const place = ({ tags }: T) => SIZES.findIndex(([, name]) => name === tags.size)
  return [...all].sort((a, b) => place(a) - place(b))
}
