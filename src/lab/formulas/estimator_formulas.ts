// The advantage estimators at one token, as formulas.
import { ALGORITHM_DEFAULTS } from '../../rl/config/algorithm.ts'
import type { AdvEstimator } from '../../rl/estimators/advantages.ts'
import { groupMean, groupStd } from '../../rl/estimators/group_advantages.ts'
import type { TokenColumn, TokenTable, TracedSample } from '../../rl/look/token_table.ts'
import { type Formula, line, type Values } from './formula_text.ts'

/** One token of a traced response. */
export interface TokenInput {
  readonly table: TokenTable
  readonly sample: TracedSample
  readonly t: number
}

export const at = ({ sample, t }: TokenInput, name: TokenColumn): number =>
  sample.columns[name]?.[t] ?? Number.NaN

/** The next token that counts; undefined after the last. */
function nextToken({ sample, t }: TokenInput): number | undefined {
  const mask = sample.columns.response_mask ?? []
  const next = mask.findIndex((m, i) => i > t && m !== 0)
  return next < 0 ? undefined : next
}

/** Mean and standard deviation of a group; a group of one has 0 and 1, as in verl. */
function groupStatistics({ sample }: TokenInput): { mean: number; std: number } {
  const { rewards } = sample.group
  const rows = [...rewards.keys()]
  const std = rows.length === 1 ? 1 : groupStd(rewards, rows)
  return { mean: groupMean(rewards, rows), std }
}

/** s, mean and std of the group of a response. */
function groupValues(input: TokenInput) {
  const { rewards, place } = input.sample.group
  const { mean, std } = groupStatistics(input)
  return { score: rewards[place], group_mean: mean, group_std: std, n: rewards.length }
}

/** Tables that were recorded before this was a setting have no such field. */
const epsilonOf = ({ table }: TokenInput): number =>
  table.phase.algorithm.norm_adv_epsilon ?? ALGORITHM_DEFAULTS.norm_adv_epsilon

const batchValues = ({ table }: TokenInput): Values =>
  table.whitened ? { batch_mean: table.whitened.mean, batch_std: table.whitened.std } : {}
const OVER_BATCH = 'Mean and standard deviation are over all tokens of the batch.'

const GROUP_DEVIATION = line('advantage', '({score} − {group_mean}) / ({group_std} + {epsilon})')
const GROUP_CENTRED = line('centred_advantage', '{score} − {group_mean}')

/** GRPO and its vectorized twin differ in how std is taken. */
const grpo = (stdOf: (std: number, n: number, epsilon: number) => number): Formula<TokenInput> => ({
  lines: [GROUP_DEVIATION, GROUP_CENTRED],
  note: 'Mean and standard deviation are of the responses to the same prompt; every token of a response has the same advantage.',
  values: (input) => {
    const values = groupValues(input)
    const centred = values.score - values.group_mean
    if (!input.table.phase.algorithm.norm_adv_by_std_in_grpo)
      return { ...values, centred_advantage: centred }
    const epsilon = epsilonOf(input)
    const group_std = stdOf(values.group_std, values.n, epsilon)
    return { ...values, group_std, epsilon, advantage: centred / (group_std + epsilon) }
  },
})

const rloo = (keeps_lone_score: boolean): Formula<TokenInput> => ({
  lines: [
    line('advantage', '({score} − {group_mean}) · {n} / ({n} − 1)'),
    line('lone_advantage', '{score}'),
    line('no_advantage', '0'),
  ],
  note: 'The score against the mean of the other responses to the same prompt.',
  values: (input) => {
    const { score, group_mean, n } = groupValues(input)
    if (n > 1) return { score, group_mean, n, advantage: ((score - group_mean) * n) / (n - 1) }
    return keeps_lone_score ? { score, lone_advantage: score } : { no_advantage: 0 }
  },
})

const tokenBaseline: Formula<TokenInput> = {
  lines: [line('advantage', '{return_} − {baseline}')],
  note: 'The baseline is the mean return of the responses to the same prompt at this token, weighted by how much each has moved the gradient so far.',
  values: (input) => {
    const [return_, advantage] = [at(input, 'returns'), at(input, 'advantages')]
    return { return_, baseline: return_ - advantage, advantage }
  },
}

/** The advantage estimators; sources in rl/estimators/advantages.ts. */
export const ESTIMATOR_FORMULAS: Readonly<Record<AdvEstimator, Formula<TokenInput>>> = {
  gae: {
    lines: [
      line('delta', '{reward} + {gamma} · {next_value} − {value}'),
      line('raw_advantage', '{delta} + {gamma} · {lam} · {next_advantage}'),
      line('advantage', '({raw_advantage} − {batch_mean}) / {batch_std}'),
    ],
    note: OVER_BATCH,
    values: (input) => {
      const { gamma, lam } = input.table.phase.algorithm
      const next = nextToken(input)
      const after = { ...input, t: next ?? -1 }
      const next_value = next === undefined ? 0 : at(after, 'values')
      const next_advantage = next === undefined ? 0 : at(after, 'returns') - next_value
      const [reward, value] = [at(input, 'token_level_rewards'), at(input, 'values')]
      const delta = reward + gamma * next_value - value
      const raw_advantage = delta + gamma * lam * next_advantage
      const known = { reward, gamma, lam, value, next_value, next_advantage }
      return whitened(input, raw_advantage, { ...known, delta, raw_advantage })
    },
  },
  grpo: grpo((std) => std),
  grpo_vectorized: grpo((std, n, epsilon) =>
    n === 1 ? 1 : Math.sqrt(Math.max(std ** 2, epsilon)),
  ),
  grpo_passk: {
    lines: [
      line('advantage', '({best} − {second}) / ({group_std} + {epsilon})'),
      line('centred_advantage', '{best} − {second}'),
      line('no_advantage', '0'),
    ],
    note: 'Only the best response to a prompt counts.',
    values: (input) => {
      const { rewards, place } = input.sample.group
      const [first, next] = [...rewards.keys()].sort((a, b) => rewards[b] - rewards[a])
      if (place !== first) return { no_advantage: 0 }
      const [best, second] = [rewards[first], rewards[next]]
      if (!input.table.phase.algorithm.norm_adv_by_std_in_grpo)
        return { best, second, centred_advantage: best - second }
      const { group_std } = groupValues(input)
      const epsilon = epsilonOf(input)
      return {
        best,
        second,
        group_std,
        epsilon,
        advantage: (best - second) / (group_std + epsilon),
      }
    },
  },
  reinforce_plus_plus: {
    lines: [
      line('return_', '{reward} + {gamma} · {next_return}'),
      line('advantage', '({return_} − {batch_mean}) / {batch_std}'),
    ],
    note: OVER_BATCH,
    values: (input) => {
      const { gamma } = input.table.phase.algorithm
      const { response_mask = [], returns = [] } = input.sample.columns
      const is_followed = (response_mask[input.t + 1] ?? 0) !== 0
      const next_return = is_followed ? returns[input.t + 1] : 0
      const reward = at(input, 'token_level_rewards')
      const return_ = reward + gamma * next_return
      return whitened(input, return_, { reward, gamma, next_return, return_ })
    },
  },
  reinforce_plus_plus_baseline: {
    lines: [
      line('centred', '{score} − {group_mean}'),
      line('advantage', '({centred} − {batch_mean}) / {batch_std}'),
    ],
    note: OVER_BATCH,
    values: (input) => {
      const { score, group_mean } = groupValues(input)
      return whitened(input, score - group_mean, { score, group_mean, centred: score - group_mean })
    },
  },
  remax: {
    lines: [line('advantage', '{return_} − {baseline}')],
    note: 'The baseline is the score of a greedy response to the same prompt.',
    values: (input) => {
      const return_ = at(input, 'returns')
      const baseline = input.sample.reward_baseline ?? Number.NaN
      return { return_, baseline, advantage: return_ - baseline }
    },
  },
  rloo: rloo(true),
  rloo_vectorized: rloo(false),
  opo: {
    lines: [line('advantage', '{score} − {baseline}')],
    note: 'The baseline is the mean score of the responses to the same prompt, weighted by their lengths.',
    values: (input) => {
      const { rewards, lengths, place } = input.sample.group
      const tokens = lengths.reduce((a, b) => a + b, 0)
      const weighted = rewards.reduce((sum, reward, i) => sum + reward * lengths[i], 0)
      const baseline = rewards.length > 1 && tokens > 0 ? weighted / tokens : 0
      return { score: rewards[place], baseline, advantage: rewards[place] - baseline }
    },
  },
  gpg: {
    lines: [line('advantage', '{alpha} · ({score} − {group_mean})')],
    note: 'α is the batch’s responses over those with another reward than 0.',
    values: (input) => {
      const { rows, nonzero_rewards } = input.table
      const { score, group_mean } = groupValues(input)
      const alpha = Math.fround(rows / Math.max(1, nonzero_rewards))
      return { alpha, score, group_mean, advantage: alpha * (score - group_mean) }
    },
  },
  optimal_token_baseline: tokenBaseline,
  tir_optimal_token_baseline: tokenBaseline,
}

/** `values` with what the whole batch's whitening makes of one number. */
function whitened(input: TokenInput, before: number, values: Values): Values {
  const of_batch = batchValues(input)
  if (of_batch.batch_std === undefined) return values
  const advantage = (before - of_batch.batch_mean) / of_batch.batch_std
  return { ...values, ...of_batch, advantage }
}
