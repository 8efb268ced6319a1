// Describes one token of a traced step as the formulas of estimators see it, and what several of
// them say about it.
import { type Formula, line, type Values } from '../math/formula.ts'
import { groupMean, groupStd, NORM_ADV_EPSILON } from './groups.ts'

type Column = 'token_level_rewards' | 'values' | 'returns' | 'advantages' | 'response_mask'

/** A token of a traced response. */
export interface EstimatedToken {
  readonly table: {
    readonly phase: {
      readonly algorithm: {
        readonly gamma: number
        readonly lam: number
        readonly norm_adv_by_std_in_grpo: boolean
        readonly norm_adv_epsilon?: number
      }
    }
    /** Responses of the batch, and how many of them had another reward than 0. */
    readonly rows: number
    readonly nonzero_rewards: number
    /** The spread of the rewards of all of them; tables of older runs have none. */
    readonly reward_std?: number
    /** What the advantages of estimators that whiten were brought to 0 and 1 from, over the batch's
     * tokens. */
    readonly whitened?: { readonly mean: number; readonly std: number }
  }
  readonly sample: {
    readonly columns: Readonly<Partial<Record<Column, readonly number[]>>>
    /** The responses to the same prompt: the sums of their rewards, their tokens that count, and
     * which one this is. */
    readonly group: {
      readonly rewards: readonly number[]
      readonly lengths: readonly number[]
      readonly place: number
    }
    /** The score of a greedy response to the prompt. */
    readonly reward_baseline?: number
  }
  readonly t: number
}

/** A number of the token; NaN where the step has none. */
export const numberAt = ({ sample, t }: EstimatedToken, name: Column): number =>
  sample.columns[name]?.[t] ?? Number.NaN

/** s, mean and std of the group of a response; a group of one has mean 0 and std 1, as in verl. */
export function groupValues({ sample }: EstimatedToken) {
  const { rewards, place } = sample.group
  const rows = [...rewards.keys()]
  const group_std = rows.length === 1 ? 1 : groupStd(rewards, rows)
  return {
    score: rewards[place],
    group_mean: groupMean(rewards, rows),
    group_std,
    n: rewards.length,
  }
}

/** Tables that were recorded before this was a setting have no such field. */
export const epsilonOf = ({ table }: EstimatedToken): number =>
  table.phase.algorithm.norm_adv_epsilon ?? NORM_ADV_EPSILON

/** GRPO's formula, with and without its division; `stdOf` makes what divides of the group's
 * standard deviation. */
export const groupFormula = (
  stdOf: (std: number, n: number, epsilon: number) => number,
): Formula<EstimatedToken> => ({
  lines: [
    line('advantage', '({score} − {group_mean}) / ({group_std} + {epsilon})'),
    line('centred_advantage', '{score} − {group_mean}'),
  ],
  note: 'Mean and standard deviation are of the responses to the same prompt; every token of a response has the same advantage.',
  values: (token) => {
    const values = groupValues(token)
    const centred_advantage = values.score - values.group_mean
    if (!token.table.phase.algorithm.norm_adv_by_std_in_grpo)
      return { ...values, centred_advantage }
    const epsilon = epsilonOf(token)
    const group_std = stdOf(values.group_std, values.n, epsilon)
    return { ...values, group_std, epsilon, advantage: centred_advantage / (group_std + epsilon) }
  },
})

export const OVER_BATCH = 'Mean and standard deviation are over all tokens of the batch.'

/** `values` with what the whole batch's whitening makes of one number. */
export function whitenedValues({ table }: EstimatedToken, before: number, values: Values): Values {
  if (!table.whitened) return values
  const { mean: batch_mean, std: batch_std } = table.whitened
  return { ...values, batch_mean, batch_std, advantage: (before - batch_mean) / batch_std }
}
