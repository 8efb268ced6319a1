// Declares the fields of rollout correction: what is done about responses that another policy
// sampled than the one that learns.
import type { RsCriterion } from '../../kernels/rollout_correction/rollout_correction.ts'
import { boolean, number, select, selectOrNone, type Tree, text } from '../fields/field.ts'
import type { LossMode } from '../losses/losses.ts'

/** verl's algorithm.rollout_correction. */
export interface RolloutCorrection {
  /** Importance weights per token or per response; null = none. */
  readonly rollout_is: null | 'token' | 'sequence'
  /** Weights are cut off above this number, above 0; with verl's `lower_upper` (IcePop) those
   * outside become 0. */
  readonly rollout_is_threshold: number | string
  /** Divide the weights by their mean over the batch. */
  readonly rollout_is_batch_normalize: boolean
  /** Criteria, comma-separated, that a token or response must all meet; null = none. */
  readonly rollout_rs: null | string
  /** One threshold for all criteria or one each, comma-separated: `lower_upper` for k1, an upper
   * bound for k2 and k3. */
  readonly rollout_rs_threshold: null | string | number
  /** The rollout's log-probs stand for the old policy's; weights and mask come from the policy
   * being updated. */
  readonly bypass_mode: boolean
  /** Loss in bypass mode. */
  readonly loss_type: 'ppo_clip' | 'reinforce'
}

/** The loss that bypass mode chooses. */
export const bypassLoss = ({ loss_type }: Pick<RolloutCorrection, 'loss_type'>): LossMode =>
  loss_type === 'reinforce' ? 'reinforce' : 'vanilla'

/** In an experiment both bounds of importance weights are numbers of their own. */
export interface RolloutCorrectionFields extends Omit<RolloutCorrection, 'rollout_is_threshold'> {
  readonly rollout_is_threshold: number
  /** null = weights are cut off; else the lower bound of IcePop. */
  readonly rollout_is_threshold_lower: number | null
  readonly rollout_rs_threshold: string | null
}

/** verl writes both bounds as `lower_upper`. */
export const engineCorrection = ({
  rollout_is_threshold_lower: lower,
  rollout_is_threshold: upper,
  ...correction
}: RolloutCorrectionFields): RolloutCorrection => ({
  ...correction,
  rollout_is_threshold: lower === null ? upper : `${lower}_${upper}`,
})

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

/** verl's `algorithm.rollout_correction`. */
export const ROLLOUT_CORRECTION: Tree<RolloutCorrectionFields> = {
  bypass_mode: boolean({
    label: 'Bypass mode',
    help: 'Whether the probabilities noted while sampling stand for the old policy’s, which are then not computed again.',
    default: false,
  }),
  loss_type: select(
    { label: 'Loss in bypass mode', help: 'Which loss is minimised in bypass mode.' },
    { ppo_clip: 'PPO, clipped', reinforce: 'REINFORCE' },
  ),
  rollout_is: selectOrNone(
    {
      label: 'Importance weights',
      help: 'Weights that correct for sampling from another policy than the one being trained.',
      none: 'off',
    },
    { token: 'per token', sequence: 'per response' },
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
    help: 'Weights outside smallest … largest become 0 in place of being cut off; verl 0.8 and later write both as lower_upper. None = they are cut off.',
    default: null,
    none: 0,
    min: 0.000001,
    max: 1000,
  }),
  rollout_is_batch_normalize: boolean({
    label: 'Normalise weights',
    help: 'Whether the weights are divided by their mean over the batch.',
    default: false,
  }),
  rollout_rs: text(
    {
      label: 'Rejection',
      help: `What tokens or responses must meet to be trained on, with commas (${Object.keys(RS_CRITERIA).join(', ')}); empty = off, and the threshold comes first.`,
      default: null,
      none: '',
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
      default: null,
      none: '',
      max: 120,
    },
    {
      holds: isListOf(isThreshold),
      expected: 'nothing or numbers above 0 with commas, each one alone or as lower_upper',
    },
  ),
}
