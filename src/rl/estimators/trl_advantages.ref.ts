// Computes, in float64, what TRL's GRPOTrainer makes of rewards, of completions cut short and of
// the log-probs of another sampler.
import { groupRows } from './groups.ts'

/** TRL adds it to every standard deviation. */
const EPSILON = 1e-4
/** torch.isclose to 0. */
const CLOSE = 1e-8

export interface TrlAdvantageConfig {
  readonly num_generations: number
  readonly scale_rewards: 'group' | 'batch' | 'none'
  readonly multi_objective_aggregation: 'sum_then_normalize' | 'normalize_then_sum'
  readonly reward_weights: readonly number[]
}

export interface TrlAdvantages {
  /** [N] */
  readonly advantages: Float64Array
  readonly metrics: Record<string, number>
}

/** A reward that a function did not give. */
type Reward = number | null
const known = (values: readonly Reward[]): number[] => values.filter((x) => x !== null)

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, x) => sum + x, 0) / values.length

/** Unbiased; 0 for fewer than two numbers. */
function stdOf(values: readonly number[]): number {
  if (values.length < 2) return 0
  const mean = meanOf(values)
  return Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1))
}

/** Σ weight × reward over what is known of a row; null where nothing is. */
const totalOf = (row: readonly Reward[], weights: readonly number[]): Reward =>
  known(row).length === 0
    ? null
    : row.reduce<number>((sum, reward, k) => sum + weights[k] * (reward ?? 0), 0)

/** rewards_per_func [N, F], the rows of a group behind each other. */
export function trlAdvantagesRef(
  rewards: readonly (readonly Reward[])[],
  config: TrlAdvantageConfig,
): TrlAdvantages {
  const totals = rewards.map((row) => totalOf(row, config.reward_weights))
  const groups = groupRows(rewards.map((_, b) => Math.floor(b / config.num_generations)))
  const { advantages, zero_std } =
    config.multi_objective_aggregation === 'normalize_then_sum'
      ? normalizedThenSummed(rewards, totals, groups, config)
      : summedThenNormalized(totals, groups, config)
  const metrics: Record<string, number> = {
    reward: meanOf(known(totals)),
    reward_std: stdOf(known(totals)),
    frac_reward_zero_std: zero_std,
  }
  for (let k = 0; k < config.reward_weights.length; k++) {
    const own = known(rewards.map((row) => row[k]))
    metrics[`rewards/r${k + 1}/mean`] = meanOf(own)
    metrics[`rewards/r${k + 1}/std`] = stdOf(own)
  }
  return { advantages, metrics }
}

/** Each row against the mean of its group, divided by the spread of the group, of the batch, or by
 * nothing. */
function summedThenNormalized(
  totals: readonly Reward[],
  groups: readonly (readonly number[])[],
  { scale_rewards }: TrlAdvantageConfig,
) {
  const advantages = new Float64Array(totals.length)
  const batchStd = stdOf(known(totals))
  let zero = 0
  for (const rows of groups) {
    const values = known(rows.map((b) => totals[b]))
    const std = scale_rewards === 'batch' ? batchStd : stdOf(values)
    const mean = meanOf(values)
    if (std <= CLOSE) zero += rows.length
    const divisor = scale_rewards === 'none' ? 1 : std + EPSILON
    for (const b of rows) {
      const total = totals[b]
      advantages[b] = total === null ? 0 : (total - mean) / divisor
    }
  }
  return { advantages, zero_std: zero / totals.length }
}

/** GDPO: every reward against its group by itself, then the sum against the batch. */
function normalizedThenSummed(
  rewards: readonly (readonly Reward[])[],
  totals: readonly Reward[],
  groups: readonly (readonly number[])[],
  { reward_weights }: TrlAdvantageConfig,
) {
  const sums = new Float64Array(rewards.length)
  for (const [k, weight] of reward_weights.entries())
    for (const rows of groups) {
      const values = known(rows.map((b) => rewards[b][k]))
      const mean = meanOf(values)
      const std = stdOf(values)
      for (const b of rows) {
        const reward = rewards[b][k]
        if (reward !== null) sums[b] += (weight * (reward - mean)) / (std + EPSILON)
      }
    }
  const counted = Array.from(sums).filter((_, b) => totals[b] !== null)
  const mean = meanOf(counted)
  const std = stdOf(counted)
  const advantages = sums.map((sum, b) => (totals[b] === null ? 0 : (sum - mean) / (std + EPSILON)))
  return { advantages, zero_std: Number(std <= CLOSE) }
}

/** 1 for the tokens of each completion; all 0 for one that was cut, where those are left out. [N,
 * T] */
export function trlCompletionMask(
  completions: readonly (readonly number[])[],
  {
    mask_truncated_completions,
    endTokens,
  }: { readonly mask_truncated_completions: boolean; readonly endTokens: readonly number[] },
): number[][] {
  const columns = Math.max(0, ...completions.map(({ length }) => length))
  return completions.map((ids) => {
    const isCut = !endTokens.includes(ids.at(-1) ?? Number.NaN)
    const kept = mask_truncated_completions && isCut ? 0 : ids.length
    return Array.from({ length: columns }, (_, t) => Number(t < kept))
  })
}

export const TRL_CORRECTIONS = [
  'token_truncate',
  'token_mask',
  'sequence_truncate',
  'sequence_mask',
] as const

/** exp(old - sampling), per token [N, T] or per row [N, 1], cut off at its bounds or 0 outside
 * them; and TRL's metrics. */
export function trlSamplingCorrection(
  oldLogps: readonly (readonly number[])[],
  samplingLogps: readonly (readonly number[])[],
  mask: readonly (readonly number[])[],
  bounds: {
    readonly mode: (typeof TRL_CORRECTIONS)[number]
    readonly clip_min: number | undefined
    readonly clip_max: number | undefined
  },
) {
  const [level, kind] = bounds.mode.split('_')
  const low = bounds.clip_min ?? Number.NEGATIVE_INFINITY
  const high = bounds.clip_max ?? Number.POSITIVE_INFINITY
  const difference = mask.map((row, b) =>
    row.map((m, t) => (m ? oldLogps[b][t] - samplingLogps[b][t] : 0)),
  )
  const logs =
    level === 'token' ? difference : difference.map((row) => [row.reduce((sum, x) => sum + x, 0)])
  const ratio = logs.map((row) =>
    row.map((log) => {
      const r = Math.exp(log)
      if (kind === 'truncate') return Math.min(Math.max(r, low), high)
      return r < low || r > high ? 0 : r
    }),
  )
  const counted = (values: readonly (readonly number[])[]): number[] =>
    values.flatMap((row, b) => row.filter((_, t) => mask[b][t] !== 0))
  const distances = counted(difference).map(Math.abs)
  const shown = level === 'token' ? counted(ratio) : ratio.flat()
  const orZero = (value: number) => (Number.isFinite(value) ? value : 0)
  return {
    ratio,
    metrics: {
      'sampling/sampling_logp_difference/mean': orZero(meanOf(distances)),
      'sampling/sampling_logp_difference/max': orZero(Math.max(...distances)),
      'sampling/importance_sampling_ratio/min': orZero(Math.min(...shown)),
      'sampling/importance_sampling_ratio/mean': orZero(meanOf(shown)),
      'sampling/importance_sampling_ratio/max': orZero(Math.max(...shown)),
    },
  }
}
