// The fields of rollout correction: what is done about responses that another policy sampled than
// the one that learns.
import type { RsCriterion } from '../../../kernels/rollout_correction/rollout_correction.ts'
import { ALGORITHM_DEFAULTS, type RolloutCorrection } from '../../../rl/config/algorithm.ts'
import { boolean, number, select, type Tree, text } from './field.ts'

/** verl's algorithm.rollout_correction; where that has null, an experiment has 'off' or ''. */
export type RolloutCorrectionFields = Omit<
  RolloutCorrection,
  'rollout_is' | 'rollout_is_threshold' | 'rollout_rs' | 'rollout_rs_threshold'
> & {
  readonly rollout_is_threshold: number
  /** 0 = weights are cut off; above 0 the lower bound of IcePop. verl writes both as
   * `lower_upper`. */
  readonly rollout_is_threshold_lower: number
  readonly rollout_is: 'off' | 'token' | 'sequence'
  /** '' = off. */
  readonly rollout_rs: string
  /** '' = none. */
  readonly rollout_rs_threshold: string
}

/** Every criterion of the engine, for messages and help. */
const RS_CRITERIA: Readonly<Record<RsCriterion, true>> = {
  token_k1: true,
  token_k2: true,
  token_k3: true,
  seq_sum_k1: true,
  seq_sum_k2: true,
  seq_sum_k3: true,
  seq_mean_k1: true,
  seq_mean_k2: true,
  seq_mean_k3: true,
  seq_max_k2: true,
  seq_max_k3: true,
}

/** The parts of a list with commas. */
export const listOf = (list: string): string[] =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const PLAIN_NUMBER = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

const isPositive = (part: string): boolean => {
  const number = PLAIN_NUMBER.test(part.trim()) ? Number(part) : 0
  return number > 0 && number < Number.POSITIVE_INFINITY
}

const isThreshold = (part: string): boolean => {
  const bounds = part.split('_')
  return bounds.length <= 2 && bounds.every(isPositive)
}

/** A list with commas, each part of which is sound, or nothing at all. */
const isListOf =
  (isSound: (part: string) => boolean) =>
  (list: string): boolean =>
    list.trim() === '' || (listOf(list).length > 0 && listOf(list).every(isSound))

const correction = ALGORITHM_DEFAULTS.rollout_correction

/** verl's `algorithm.rollout_correction`. */
export const ROLLOUT_CORRECTION: Tree<RolloutCorrectionFields> = {
  bypass_mode: boolean({
    label: 'Bypass mode',
    help: 'Whether the probabilities noted while sampling stand for the old policy’s, which are then not computed again.',
    default: correction.bypass_mode,
  }),
  loss_type: select(
    { label: 'Loss in bypass mode', help: 'Which loss is minimised in bypass mode.' },
    { ppo_clip: 'PPO, clipped', reinforce: 'REINFORCE' },
  ),
  rollout_is: select(
    {
      label: 'Importance weights',
      help: 'Weights that correct for sampling from another policy than the one being trained.',
    },
    { off: 'off', token: 'per token', sequence: 'per response' },
  ),
  rollout_is_threshold: number({
    label: 'Largest weight',
    help: 'Weights are cut off above this.',
    default: 2,
    min: 0.01,
    max: 1000,
    scale: 'log',
  }),
  rollout_is_threshold_lower: number({
    label: 'Smallest weight (IcePop)',
    help: 'Above 0, weights outside smallest … largest become 0 in place of being cut off; verl 0.8 and later write both as lower_upper.',
    default: 0,
    min: 0,
    max: 1000,
  }),
  rollout_is_batch_normalize: boolean({
    label: 'Normalise weights',
    help: 'Whether the weights are divided by their mean over the batch.',
    default: correction.rollout_is_batch_normalize,
  }),
  rollout_rs: text(
    {
      label: 'Rejection',
      help: `What tokens or responses must meet to be trained on, with commas (${Object.keys(RS_CRITERIA).join(', ')}); empty = off, and the threshold comes first.`,
      default: '',
      max: 120,
    },
    {
      holds: isListOf((name) => Object.hasOwn(RS_CRITERIA, name)),
      expected: `nothing or some of ${Object.keys(RS_CRITERIA).join(', ')}, with commas`,
    },
  ),
  rollout_rs_threshold: text(
    {
      label: 'Rejection threshold',
      help: 'One threshold for all criteria or one each with commas: an upper bound, for k1 also lower_upper (0.5_2).',
      default: '',
      max: 120,
    },
    {
      holds: isListOf(isThreshold),
      expected: 'nothing or numbers above 0 with commas, each one alone or as lower_upper',
    },
  ),
}
