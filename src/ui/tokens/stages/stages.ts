// Computes what the walk through one step says, without React.
import { estimatorLabel } from '../../../document/experiment/fields/phase_fields.ts'
import { noiseOf, withoutNoise } from '../../../document/formulas/advantage_noise.ts'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { formatNumber, formatRate, NONE } from '../../kit/format.ts'
import { shortNumber } from '../base/columns.ts'

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
  const isFirst = ratio.every((r) => r === 1)
  const moved = isFirst
    ? 'Nothing has moved yet when the update sees this response, so every ratio is exactly 1.'
    : `Earlier updates of this step have moved the policy already: ratios ${range(ratio)}.`
  if (!clipped) return `${moved} The loss ${table.loss_mode} has no clip.`
  return `${moved} The clip is active at ${clipped.filter((c) => c > 0).length} of ${ratio.length} tokens.`
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
  const rate = lr === undefined ? '' : ` Learning rate ${formatRate(lr)}.`
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
    columns.values ? 'the critic says what it expects from each token on' : '',
  ].filter((text) => text !== '')
  const missing = [
    columns.ref_log_prob ? '' : 'no reference',
    columns.values ? '' : 'no critic',
  ].filter((text) => text !== '')
  const first = table.phase.algorithm.rollout_correction.bypass_mode
    ? 'The log-probs of sampling itself serve as the old policy’s'
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
      `${table.phase.reward_model.enable ? 'The reward model' : 'The task'} gives the whole answer ${formatNumber(sample.score)}; the score is placed at the last token.`,
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
      `The estimator (${estimatorLabel(table.phase.adv_estimator)}) says how much better than expected each token was: ${range(
        sample.columns.advantages?.map((one) => withoutNoise(one, noiseOf(table.samples))),
      )}.`,
  },
  { title: 'Loss', says: lossSays },
  { title: 'Update', says: updateSays },
]

/** The stage that a part of the formulas belongs to. */
export const PART_STAGE = { reward: 3, advantage: 4, loss: 5 } as const
