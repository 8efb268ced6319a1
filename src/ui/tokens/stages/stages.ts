// What the walk through one step says, without React.
import type { TokenTable, TracedSample } from '../../../lab/protocol/results.ts'
import { formatNumber, NONE } from '../../base/format.ts'

/** `moved`: what the step did to a token's log-prob. */
export type Name = keyof TracedSample['columns'] | 'moved'

export interface Column {
  readonly name: Name
  readonly label: string
  /** One sentence for whoever points at it. */
  readonly help: string
  /** Of STAGES, from 0. */
  readonly stage: number
  /** Left out unless the step has it. */
  readonly is_rare?: boolean
}

/** In the order in which a step computes them. */
export const COLUMNS: readonly Column[] = [
  {
    name: 'token_level_scores',
    label: 'score',
    help: 'What the task or the reward model says, at the last token.',
    stage: 1,
  },
  {
    name: 'old_log_probs',
    label: 'old log-prob',
    help: 'log π_old: how likely the policy found the token before this step’s updates, in nats.',
    stage: 2,
  },
  {
    name: 'ref_log_prob',
    label: 'ref log-prob',
    help: 'log π_ref: how likely the frozen reference finds the token, in nats.',
    stage: 2,
  },
  {
    name: 'values',
    label: 'value',
    help: 'V: what the critic expects from this token on.',
    stage: 2,
  },
  {
    name: 'rollout_is_weights',
    label: 'weight',
    help: 'w: the importance weight of rollout correction.',
    stage: 2,
    is_rare: true,
  },
  {
    name: 'response_mask',
    label: 'kept',
    help: '0 where rollout correction rejected the token.',
    stage: 2,
    is_rare: true,
  },
  {
    name: 'reward_kl',
    label: 'KL, reward',
    help: 'The estimate of KL to the reference that is taken off the reward, in nats.',
    stage: 3,
  },
  {
    name: 'token_level_rewards',
    label: 'reward',
    help: 'The score less β times the KL in the reward.',
    stage: 3,
  },
  {
    name: 'advantages',
    label: 'advantage',
    help: 'A: how much better than expected the token turned out.',
    stage: 4,
  },
  { name: 'returns', label: 'return', help: 'What came of it from this token on.', stage: 4 },
  {
    name: 'log_probs',
    label: 'log-prob',
    help: 'log π as the last optimizer step that saw this response found it, before it changed anything, in nats.',
    stage: 5,
  },
  {
    name: 'ratio',
    label: 'ratio',
    help: 'exp(log π − log π_old); 1 = nothing moved yet.',
    stage: 5,
  },
  {
    name: 'clipped',
    label: 'clipped',
    help: 'Whether the clip of the loss takes hold at this token.',
    stage: 5,
  },
  {
    name: 'chosen',
    label: 'chosen',
    help: 'Whether the loss chose this token by the covariance of advantage and log-prob: clip_cov gives it no loss, kl_cov a penalty.',
    stage: 5,
    is_rare: true,
  },
  {
    name: 'kld',
    label: 'KL, loss',
    help: 'The estimate of KL to the reference that is a term of the loss, in nats.',
    stage: 5,
  },
  {
    name: 'entropy',
    label: 'entropy',
    help: 'H: of the policy at this token when the update saw it, in nats.',
    stage: 5,
  },
  {
    name: 'log_probs_after',
    label: 'log-prob after',
    help: 'The token scored once more, after all updates of this step, in nats.',
    stage: 6,
  },
  {
    name: 'moved',
    label: 'change',
    help: 'log-prob after less old log-prob: what this step did to the token.',
    stage: 6,
  },
]

/** The columns that a sample is shown with: rare ones where they say something. */
export function shownColumns({ columns }: TracedSample): readonly Column[] {
  return COLUMNS.filter(({ name, is_rare }) => {
    if (!is_rare) return true
    if (name === 'response_mask') return columns.response_mask?.includes(0) ?? false
    return name in columns
  })
}

/** A number of the table; undefined where this step has none. */
export function valueOf({ columns }: TracedSample, name: Name, t: number): number | undefined {
  if (name === 'moved') {
    const [before, after] = [columns.old_log_probs?.[t], columns.log_probs_after?.[t]]
    return before === undefined || after === undefined ? undefined : after - before
  }
  const value = columns[name]?.[t]
  return Number.isNaN(value) ? undefined : value
}

const CLIPPED = ['no', 'yes', 'yes, low'] as const

/** Four decimals, so that a column lines up; whole numbers without any. */
function shortNumber(value: number): string {
  if (Number.isInteger(value)) return `${value}`.replace('-', '−')
  const size = Math.abs(value)
  const text = size < 1e-3 || size >= 1e5 ? size.toExponential(1) : size.toFixed(4)
  return value < 0 ? `−${text}` : text
}

/** A cell as it stands in the table. */
export function cellText(sample: TracedSample, name: Name, t: number): string {
  const value = valueOf(sample, name, t)
  if (value === undefined) return NONE
  if (name === 'chosen') return value === 1 ? 'yes' : 'no'
  return name === 'clipped' ? (CLIPPED[value] ?? NONE) : shortNumber(value)
}

/** A cell with everything that is known of it; undefined where this step has none (why_missing.ts). */
export function exactText(sample: TracedSample, name: Name, t: number): string | undefined {
  const value = valueOf(sample, name, t)
  if (value === undefined) return undefined
  if (name === 'chosen') return value === 1 ? 'chosen by its covariance' : 'not chosen'
  if (name !== 'clipped') return `${value}`
  return ['not clipped', 'clipped', 'held by the clip on bad responses'][value] ?? NONE
}

export type Choice = 'best' | 'worst' | number

/** The sample of that choice: the first with the best or worst score, or the one at a place. */
export function placeOf(samples: readonly TracedSample[], choice: Choice): number {
  if (typeof choice === 'number') return Math.min(choice, samples.length - 1)
  const sign = choice === 'best' ? 1 : -1
  return samples.reduce(
    (found, { score }, i) => (sign * score > sign * samples[found].score ? i : found),
    0,
  )
}

/** What the last stage needs to know of the step's own metrics. */
export interface UpdateNumbers {
  readonly grad_norm: number | undefined
  readonly lr: number | undefined
}

export interface Told {
  readonly table: TokenTable
  readonly sample: TracedSample
  readonly update: UpdateNumbers
}

interface Stage {
  readonly title: string
  /** One sentence about this response. */
  readonly says: (told: Told) => string
}

const range = (values: readonly number[] | undefined): string => {
  if (!values?.length) return NONE
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return low === high
    ? `${shortNumber(low)} on every token`
    : `from ${shortNumber(low)} to ${shortNumber(high)}`
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)

function lossSays({ table, sample }: Told): string {
  const { ratio, clipped } = sample.columns
  if (!ratio)
    return table.updates === 0
      ? 'Only the critic learns in this step: there is no policy loss.'
      : 'All tokens of this mini-batch were rejected: there is no policy loss.'
  const is_first = ratio.every((r) => r === 1)
  const moved = is_first
    ? 'Nothing has moved yet when the update sees this response, so every ratio is exactly 1.'
    : `Earlier updates of this step have moved the policy already: ratios ${range(ratio)}.`
  if (!clipped) return `${moved} The loss ${table.loss_mode} has no clip.`
  return `${moved} The clip takes hold at ${clipped.filter((c) => c > 0).length} of ${ratio.length} tokens.`
}

function updateSays({ table, sample, update }: Told): string {
  if (table.updates === 0) return 'The policy stays as it is in this step.'
  const { grad_clip } = table.phase.actor
  const { grad_norm, lr } = update
  const one = table.updates === 1
  const norm =
    grad_norm === undefined
      ? ''
      : ` The gradient’s norm is ${formatNumber(grad_norm)}${one ? '' : ' on average'}; above ${formatNumber(grad_clip)} it is scaled down to that${
          one && grad_norm > grad_clip ? `, here by ${formatNumber(grad_clip / grad_norm)}` : ''
        }.`
  const rate = lr === undefined ? '' : ` Learning rate ${formatNumber(lr)}.`
  const { old_log_probs, log_probs_after } = sample.columns
  const moved =
    old_log_probs && log_probs_after
      ? ` The log-prob of this response went from ${shortNumber(sum(old_log_probs))} to ${shortNumber(sum(log_probs_after))}.`
      : ''
  return `${table.updates} optimizer ${one ? 'step' : 'steps'}.${norm}${rate}${moved}`
}

function scoredSays({ table, sample }: Told): string {
  const { columns } = sample
  const others = [
    columns.ref_log_prob ? 'the frozen reference says how likely it finds them' : '',
    columns.values ? 'the critic says what it expects from each on' : '',
  ].filter((text) => text !== '')
  const missing = [
    columns.ref_log_prob ? '' : 'no reference',
    columns.values ? '' : 'no critic',
  ].filter((text) => text !== '')
  const first = table.phase.algorithm.rollout_correction.bypass_mode
    ? 'The log-probs of sampling itself stand for the old policy’s'
    : 'The policy, not changed yet, is asked again how likely each token was'
  return [
    `${[first, ...others].join('; ')}.`,
    missing.length > 0 ? `This phase has ${missing.join(' and ')}.` : '',
  ]
    .join(' ')
    .trim()
}

/** The stages of one step of reinforcement. */
export const STAGES: readonly Stage[] = [
  {
    title: 'Sample',
    says: ({ table, sample }) =>
      `The policy wrote ${sample.tokens.length} ${sample.tokens.length === 1 ? 'token' : 'tokens'}, one after the other, at temperature ${formatNumber(table.phase.rollout.temperature)}${
        sample.is_ended ? '.' : ', and was cut off at the maximum length.'
      }`,
  },
  {
    title: 'Score',
    says: ({ table, sample }) =>
      `${table.phase.reward_model.enable ? 'The reward model' : 'The task'} gives the whole answer ${formatNumber(sample.score)}; the score stands at the last token.`,
  },
  { title: 'Old log-probs, reference, values', says: scoredSays },
  {
    title: 'KL and rewards',
    says: ({ table }) =>
      table.kl_coef === undefined
        ? 'This phase takes no KL off the reward, so rewards are the scores.'
        : table.phase.algorithm.kl_at_last_token
          ? `The last token pays ${formatNumber(table.kl_coef)} times the KL of the whole response to the reference: what is left is its reward.`
          : `Each token pays ${formatNumber(table.kl_coef)} times its KL to the reference: what is left is its reward.`,
  },
  {
    title: 'Advantages',
    says: ({ table, sample }) =>
      `The estimator ${table.phase.adv_estimator} says how much better than expected each token was: ${range(sample.columns.advantages)}.`,
  },
  { title: 'Loss', says: lossSays },
  { title: 'Update', says: updateSays },
]

/** The stage that a part of the formulas belongs to. */
export const PART_STAGE = { reward: 3, advantage: 4, loss: 5 } as const

/** A token as text: what is not visible gets a sign. */
export const tokenText = (token: string): string => (token === ' ' ? '␣' : token)
