// Declares the settings of a phase that learns from a teacher, under TRL's names.

import { boolean, number, select, type Tree } from '../fields/field.ts'
import { LOWEST_TEMPERATURE } from './rollout.ts'

/** Whose final policy teaches: the policy's as it was where the phase began, a moving average of
 * it, the policy's own of the same pass, or another model's. */
export type Teacher = 'reference' | 'ema' | 'final' | 'model'

/** Where the weights of a teacher are; an average lies where the reference does. */
export const teachesAs = (teacher: Teacher): Exclude<Teacher, 'ema'> =>
  teacher === 'ema' ? 'reference' : teacher

/** Weights beside the policy's own. */
export type OtherWeights = Exclude<ReturnType<typeof teachesAs>, 'final'>

/** What a phase of kind distill minimises, and on which responses. */
export interface Distillation {
  readonly teacher: Teacher
  /** What the moving average keeps of itself in each step; teacher ema alone. */
  readonly ema_decay: number
  /** Share of the steps that train on the student's own samples; the others take
   * demonstrations. */
  readonly lmbda: number
  /** Whether those others take responses that the teacher samples. Default false. */
  readonly seq_kd?: boolean
  /** What the cross-entropy of those others counts beside the divergence. Default 0. */
  readonly crossentropy_weight?: number
  /** 0 = forward KL, 1 = reverse KL, else the generalized JSD. */
  readonly beta: number
  /** Divides the logits of both, and of the samples. */
  readonly temperature: number
}

/** Whose responses the steps learn from that do not sample their own: the teacher's; undefined
 * where they take demonstrations, or where there are no such steps. */
export function writerOf({
  teacher,
  lmbda,
  seq_kd = false,
}: Pick<Distillation, 'teacher' | 'lmbda' | 'seq_kd'>): OtherWeights | undefined {
  const weights = teachesAs(teacher)
  return seq_kd && lmbda < 1 && weights !== 'final' ? weights : undefined
}

export const DISTILLATION: Tree<Required<Distillation>> = {
  teacher: select(
    {
      label: 'Teacher',
      help: 'Whose whole-model policy the trained one learns to match.',
    },
    {
      final: 'the final layer of the same pass',
      reference: 'the policy where the phase began',
      ema: 'a moving average of the policy',
      model: 'another model (Teacher)',
    },
  ),
  ema_decay: number({
    label: 'Moving average keeps',
    live: true,
    help: 'How much of itself it keeps in each step; the rest is the policy.',
    default: 0.99,
    min: 0,
    max: 1,
    step: 0.005,
    unit: 'share',
  }),
  lmbda: number({
    label: 'On-policy share',
    live: true,
    help: 'Share of the steps that train on responses which the policy samples itself (TRL’s lmbda); the others take demonstrations.',
    default: 1,
    min: 0,
    max: 1,
    step: 0.05,
    unit: 'share',
  }),
  seq_kd: boolean({
    label: 'The teacher writes (seq_kd)',
    help: 'Whether the other steps take responses that the teacher samples, in place of demonstrations (TRL’s seq_kd).',
    default: false,
  }),
  crossentropy_weight: number({
    label: 'Cross-entropy weight',
    live: true,
    help: 'What imitating the answers counts beside the divergence, in the steps that do not train on own samples; 0 = nothing.',
    default: 0,
    min: 0,
    max: 10,
    step: 0.1,
  }),
  beta: number({
    label: 'Divergence (beta)',
    live: true,
    help: '0 = forward KL, 1 = reverse KL, between them the generalized Jensen–Shannon divergence.',
    default: 0.5,
    min: 0,
    max: 1,
    step: 0.05,
  }),
  temperature: number({
    label: 'Temperature',
    live: true,
    help: 'Divides the logits of both in the loss, and those of the samples.',
    default: 1,
    min: LOWEST_TEMPERATURE,
    max: 5,
    step: 0.05,
  }),
}
