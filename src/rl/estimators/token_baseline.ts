// Computes the optimal token baseline: what a token's return is compared with is a mean over the
// group at the same token, weighted by how much of the policy's gradient variance each response has
// gathered up to there. Float64.

import { line } from '../math/formula.ts'
import { maskedSumRows } from '../math/masked.ts'
import { type EstimatedToken, numberAt } from './estimated_token.ts'
import { type AdvantageInput, estimator, given } from './estimator.ts'
import { groupRows } from './groups.ts'

/** Rows [B, R] with R = response_length, and the group id of each row. */
export interface TokenBaselineBatch {
  readonly token_level_rewards: ArrayLike<number>
  readonly response_mask: ArrayLike<number>
  readonly response_length: number
  readonly index: ArrayLike<number>
  readonly old_log_probs: ArrayLike<number>
  /** Σ_v π(v)² of the distribution each token came from. */
  readonly sum_pi_squared: ArrayLike<number>
  /** ρ̄, scales the weights by its square; absent = 1. */
  readonly rollout_is_weights?: ArrayLike<number> | null
}

/** `handle_zero_tail`: no baseline behind the second longest response of a group. */
export interface TokenBaselineConfig {
  readonly handle_zero_tail: boolean
  readonly epsilon: number
}

/** The positions in [B, R] of one response, in order: step k of the baseline compares tokens[k] of
 * all responses. */
type Tokens = readonly number[]

/** Σ_{j ≥ t} m_j·r_j: [B, R]; where the mask is 0 it holds the sum of what follows. */
export function returnsToGo(
  tokenLevelRewards: ArrayLike<number>,
  response_mask: ArrayLike<number>,
  response_length: number,
): Float64Array {
  const returns = new Float64Array(response_mask.length)
  for (let i = returns.length - 1; i >= 0; i--) {
    const after = (i + 1) % response_length === 0 ? 0 : returns[i + 1]
    returns[i] = after + (response_mask[i] !== 0 ? tokenLevelRewards[i] : 0)
  }
  return returns
}

/** W_t = Σ_{j ≤ t} m_j·(1 - 2·π_old + Σπ²)·ρ̄²: [B, R], the squared norms of the logits' gradients
 * up to token t. */
function pathVariance(batch: TokenBaselineBatch): Float64Array {
  const { response_mask, response_length, old_log_probs, sum_pi_squared } = batch
  const path = new Float64Array(response_mask.length)
  for (let i = 0; i < path.length; i++) {
    const before = i % response_length === 0 ? 0 : path[i - 1]
    const weight = batch.rollout_is_weights?.[i] ?? 1
    const energy = 1 - 2 * Math.exp(old_log_probs[i]) + sum_pi_squared[i]
    path[i] = before + (response_mask[i] !== 0 ? energy * weight ** 2 : 0)
  }
  return path
}

/** A_t = G_t - B_t for `groups` of rows, in which responses[b] holds the positions of row b. */
function subtractBaseline(
  batch: TokenBaselineBatch,
  responses: readonly Tokens[],
  groups: readonly (readonly number[])[],
  { handle_zero_tail, epsilon }: TokenBaselineConfig,
): { advantages: Float64Array; returns: Float64Array } {
  const { response_mask: mask, response_length } = batch
  const returns = returnsToGo(batch.token_level_rewards, mask, response_length)
  const path = pathVariance(batch)
  const counts = maskedSumRows(mask, mask, response_length)
  const advantages = returns.map((value, i) => (mask[i] !== 0 ? value : 0))
  for (const rows of groups) {
    if (rows.length < 2) continue
    const second = rows.map((b) => counts[b]).sort((a, b) => b - a)[1]
    for (let k = 0; k < response_length; k++) {
      const present = rows.filter((b) => k < responses[b].length && mask[responses[b][k]] !== 0)
      let [numerator, denominator] = [0, 0]
      for (const b of present) {
        const i = responses[b][k]
        numerator += returns[i] * path[i]
        denominator += path[i]
      }
      const baseline = numerator / (denominator + epsilon)
      for (const b of present) {
        const isTail = handle_zero_tail && counts[b] > second && k >= second
        if (!isTail) advantages[responses[b][k]] -= baseline
      }
    }
  }
  return { advantages, returns }
}

/** The positions 0…R-1 of each row in [B, R]. */
function rowTokens({ index, response_length }: TokenBaselineBatch): Tokens[] {
  return Array.from(index, (_, b) =>
    Array.from({ length: response_length }, (_, t) => b * response_length + t),
  )
}

/** A = (G - B)·m with B_t = Σ_i G·W·m / (Σ_i W·m + 1e-8) over the group at column t; returns = G,
 * not masked. A group of one has no baseline (verl compute_optimal_token_baseline_advantage). */
export function optimalTokenBaseline(batch: TokenBaselineBatch, config: TokenBaselineConfig) {
  return subtractBaseline(batch, rowTokens(batch), groupRows(batch.index), config)
}

/** The same for responses of several turns: step k is the k-th token that the policy wrote, without
 * the text between turns; rows without tokens leave their group (verl
 * compute_multi_turn_optimal_token_baseline_advantage). */
export function tirOptimalTokenBaseline(batch: TokenBaselineBatch, config: TokenBaselineConfig) {
  const responses = rowTokens(batch).map((row) => row.filter((i) => batch.response_mask[i] !== 0))
  const groups = groupRows(batch.index).map((rows) => rows.filter((b) => responses[b].length > 0))
  return subtractBaseline(batch, responses, groups, config)
}

/** What both need of a batch. */
function batchOf(input: AdvantageInput): TokenBaselineBatch {
  const { rollout_is_weights, response_mask } = input
  if (rollout_is_weights && rollout_is_weights.length !== response_mask.length)
    throw new RangeError(
      `rollout_is_weights: expected ${response_mask.length} numbers, found ${rollout_is_weights.length}`,
    )
  return {
    ...input,
    old_log_probs: given(input, 'old_log_probs'),
    sum_pi_squared: given(input, 'sum_pi_squared'),
  }
}

const SHARED = {
  isTokenwise: true,
  comparesGroups: true,
  needs: ['old_log_probs', 'sum_pi_squared'],
  settings: [],
  formula: {
    lines: [line('advantage', '{return_} − {baseline}')],
    note: 'The baseline is the mean return of the responses to the same prompt at this token, weighted by how much each has moved the gradient so far.',
    values: (token: EstimatedToken) => {
      const [return_, advantage] = [numberAt(token, 'returns'), numberAt(token, 'advantages')]
      return { return_, baseline: return_ - advantage, advantage }
    },
  },
} as const

export const optimal_token_baseline = estimator({
  name: 'optimal_token_baseline',
  label: 'Optimal token baseline',
  ...SHARED,
  estimate: (input, { handle_zero_tail = false, epsilon = 1e-8 }) =>
    optimalTokenBaseline(batchOf(input), { handle_zero_tail, epsilon }),
})

export const tir_optimal_token_baseline = estimator({
  name: 'tir_optimal_token_baseline',
  label: 'Optimal token baseline, several turns',
  ...SHARED,
  estimate: (input, { handle_zero_tail = true, epsilon = 1e-8 }) =>
    tirOptimalTokenBaseline(batchOf(input), { handle_zero_tail, epsilon }),
})
