// Declares a loss whose ratio is that of the whole response: TRL's importance_sampling_level
// "sequence".
import { line } from '../math/formula.ts'
import { RATIO } from './clip_range.ts'
import type { PolicyLoss } from './policy_loss.ts'
import { meanLogRatio, type ResponseTokens } from './response.ts'

/** What a ratio is of. */
export type SamplingLevel = 'token' | 'sequence'

/** The response with old log-probs to which every token has the mean log ratio. */
function evened(row: ResponseTokens): ResponseTokens {
  const mean = meanLogRatio(row)
  return { ...row, old_log_probs: Array.from(row.log_probs, (logProb) => logProb - mean) }
}

/** The loss at a level, where it has that: its rule and formula with exp(mean(log_prob -
 * old_log_prob)) of the response as the ratio of every token. Where the gradient goes through the
 * ratio, it is the slope's mean over the response (`hasLevel` says so). */
export function atLevel<Name extends string>(
  loss: PolicyLoss<Name>,
  level: SamplingLevel,
): PolicyLoss<Name> {
  if (level === 'token' || !loss.hasLevel) return loss
  const { formula } = loss
  return {
    ...loss,
    rule: (row, k) => loss.rule(evened(row), k),
    formula: {
      ...formula,
      lines: formula.lines.map((one) => (one === RATIO ? SEQUENCE_RATIO : one)),
      symbols: { ...formula.symbols, mean_log_ratio: 'mean(log π − log π_old)' },
      values: (input) => ({
        ...formula.values({ ...input, row: evened(input.row) }),
        mean_log_ratio: meanLogRatio(input.row),
      }),
    },
  }
}

const SEQUENCE_RATIO = line('ratio', 'exp({mean_log_ratio})')
