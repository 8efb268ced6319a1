// Declares GMPO: one geometric-mean ratio per response, clipped per token in log space.
import { line } from '../math/formula.ts'
import { CLIP_RANGE, type ClipRange } from './clip_range.ts'
import main from './geo_mean.wgsl?raw'
import { policyLoss } from './policy_loss.ts'
import {
  clamp,
  countedTokens,
  logRatio,
  meanOf,
  type ResponseTokens,
  tokenValues,
} from './response.ts'

/** The log ratio of a token, clipped where that is the more cautious side. */
function clippedLogRatio(row: ResponseTokens, t: number, k: ClipRange) {
  const x = logRatio(row, t)
  const sign = Math.sign(row.advantages[t])
  const held = clamp(x, -k.clip_ratio_low, k.clip_ratio_high)
  // A = 0 gives 0, and never -0.
  const y = sign === 0 ? 0 : sign * Math.min(sign * x, sign * held)
  return { x, y, is_outside: x !== held, moves: sign !== 0 && sign * x <= sign * held }
}

/** The means of a response that its loss is made of; `mean_log_weight` only where it has
 * weights. */
function responseMeans(row: ResponseTokens, k: ClipRange) {
  const weights = row.rollout_is_weights
  return {
    mean_advantage: meanOf(row, (t) => row.advantages[t]),
    mean_held_log_ratio: meanOf(row, (t) => clippedLogRatio(row, t, k).y),
    ...(weights && { mean_log_weight: meanOf(row, (t) => Math.log(weights[t] + 1e-10)) }),
  }
}

/** x = log_prob - old_log_prob (not clamped to ±20), y = the smaller of A's sign times x and times
 * clamp(x, -low, high), times that sign again (0 where A is 0); over a row's tokens loss = -mean(A)
 * · exp(mean(y)) · exp(mean(log( rollout_is_weight + 1e-10))). The mean over all rows, empty ones
 * too: sequence_scale = 1 / rows of the mini-batch. pg_weights and loss_agg_mode are not used.
 * d_log_prob = loss / tokens of the row where y = x and A is not 0, else 0. pg_clipfrac counts x
 * outside the range where A > 0, pg_clipfrac_lower where A < 0.
 *
 * Source: Zhao et al. 2025, arXiv 2507.20673; verl core_algos.py compute_policy_loss_geo_mean. */
export const geo_mean = policyLoss({
  name: 'geo_mean',
  label: 'GMPO (geometric mean)',
  numbers: CLIP_RANGE,
  metrics: ['actor/ppo_kl', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower'],
  ownMean: 'responses',
  holdsWeights: 'any',
  code: { main },
  rule: (row, k) => {
    const means = responseMeans(row, k)
    const count = countedTokens(row)
    // verl divides sums by the count + 1e-8.
    const share = count / (count + 1e-8)
    const meanLogRatio = means.mean_held_log_ratio + (means.mean_log_weight ?? 0)
    const loss = -means.mean_advantage * share * Math.exp(meanLogRatio * share)
    return (t) => {
      const { x, is_outside, moves } = clippedLogRatio(row, t, k)
      const A = row.advantages[t]
      const clipped = !is_outside || A === 0 ? 0 : A > 0 ? 1 : 2
      return { loss, slope: moves ? loss * share : 0, kl: -x, clipped }
    }
  },
  formula: {
    lines: [
      line(
        'held_log_ratio',
        '{sign} · min({sign} · ({log_prob} − {old_log_prob}), {sign} · clip({log_prob} − {old_log_prob}, −{clip_ratio_low}, {clip_ratio_high}))',
      ),
      line('loss', '−{mean_advantage} · exp({mean_held_log_ratio})'),
      line('heavy_loss', '−{mean_advantage} · exp({mean_held_log_ratio} + {mean_log_weight})'),
    ],
    symbols: {
      sign: 'sign A',
      held_log_ratio: 'y',
      mean_advantage: 'mean A',
      mean_held_log_ratio: 'mean y',
      mean_log_weight: 'mean log w',
      heavy_loss: 'L',
    },
    note: 'One loss for the whole response: the means are over its tokens.',
    values: ({ row, t, k, loss }) => ({
      ...tokenValues(row, t),
      ...k,
      sign: Math.sign(row.advantages[t]),
      held_log_ratio: clippedLogRatio(row, t, k).y,
      ...responseMeans(row, k),
      ...(row.rollout_is_weights ? { heavy_loss: loss } : { loss }),
    }),
  },
})
