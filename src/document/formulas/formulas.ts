// Collects everything that one step computed for one token, with its numbers: what the table shows
// beside the token.
import { estimatorOf } from '../../rl/estimators/advantages.ts'
import type { TokenColumn, TokenTable, TracedSample } from '../../rl/look/token_table.ts'
import { numbersOf, policyLossOf } from '../../rl/losses/losses.ts'
import { atLevel } from '../../rl/losses/sequence_level.ts'
import { type Formula, line, type Values } from '../../rl/math/formula.ts'
import { type FilledLine, fillFormula } from './formula_text.ts'
import { klFormula } from './kl_formulas.ts'

/** One token of a traced response. */
interface TokenInput {
  readonly table: TokenTable
  readonly sample: TracedSample
  readonly t: number
}

const at = ({ sample, t }: TokenInput, name: TokenColumn): number =>
  sample.columns[name]?.[t] ?? Number.NaN

/** A part of a step's arithmetic, with one token's numbers in it. */
export interface FilledFormula {
  readonly part: 'reward' | 'advantage' | 'loss'
  /** What is computed here, as menus call it. */
  readonly name: string
  readonly lines: readonly FilledLine[]
  readonly note: string | undefined
}

const rewardFormula = (taken: string): Formula<TokenInput> => ({
  lines: [line('reward', `{token_score}${taken}`)],
  values: (input) => ({
    token_score: at(input, 'token_level_scores'),
    kl_coef: input.table.kl_coef ?? Number.NaN,
    kl: at(input, 'reward_kl'),
    kl_sum: (input.sample.columns.reward_kl ?? []).reduce((sum, kl) => sum + kl, 0),
    reward: at(input, 'token_level_rewards'),
  }),
})

/** What is taken off the reward of a token: its own KL, or that of the whole response from the last
 * one. */
function takenOff({ table, sample, t }: TokenInput): string {
  if (!table.phase.algorithm.kl_at_last_token) return ' − {kl_coef} · {kl}'
  return t === sample.tokens.length - 1 ? ' − {kl_coef} · {kl_sum}' : ''
}

function rewardPart(input: TokenInput): FilledFormula[] {
  const { algorithm } = input.table.phase
  if (!algorithm.use_kl_in_reward) return []
  const kl = klFormula(algorithm.kl_penalty, 'old_log_prob')
  const [log_prob, ref_log_prob] = [at(input, 'old_log_probs'), at(input, 'ref_log_prob')]
  const lines = [
    ...fillFormula(kl, {
      log_prob,
      ref_log_prob,
      kl: at(input, 'reward_kl'),
      policy: 'old_log_prob',
    }),
    ...fillFormula(rewardFormula(takenOff(input)), input),
  ]
  const note = algorithm.kl_at_last_token
    ? 'The KL of all tokens of the response is taken off the reward of its last one.'
    : undefined
  return [{ part: 'reward', name: `KL in the reward, ${algorithm.kl_penalty}`, lines, note }]
}

/** How one token's loss continues from `start` where entropy or KL are terms of it. */
const totalFormula = (start: string, hasEntropy: boolean, hasKl: boolean): Formula<Values> => ({
  lines: [
    line('weighted_loss', '{weight} · {loss}'),
    line(
      'total',
      `{${start}}${hasEntropy ? ' − {entropy_coeff} · {entropy}' : ''}${hasKl ? ' + {kl_loss_coef} · {kl}' : ''}`,
    ),
  ],
  values: (values) => values,
})

/** KL in the loss, as the phase estimates it. */
function klLines(input: TokenInput): FilledLine[] {
  const { kl_loss_type } = input.table.phase.actor
  return fillFormula(klFormula(kl_loss_type, 'log_prob'), {
    log_prob: at(input, 'log_probs'),
    ref_log_prob: at(input, 'ref_log_prob'),
    kl: at(input, 'kld'),
    policy: 'log_prob',
  })
}

/** Weight of rollout correction, entropy and KL, as far as the phase has them. */
function totalLines(input: TokenInput, loss: number): FilledLine[] {
  const { table, sample, t } = input
  const { entropy_coeff, use_kl_loss, kl_loss_coef } = table.phase.actor
  const { holdsWeights: isWeighted } = policyLossOf(table.loss_mode)
  const weight = isWeighted ? undefined : sample.columns.rollout_is_weights?.[t]
  const hasEntropy = entropy_coeff !== 0
  const weighted_loss = (weight ?? 1) * loss
  const entropyTerm = hasEntropy ? entropy_coeff * at(input, 'entropy') : 0
  const klTerm = use_kl_loss ? kl_loss_coef * at(input, 'kld') : 0
  return fillFormula(
    totalFormula(weight === undefined ? 'loss' : 'weighted_loss', hasEntropy, use_kl_loss),
    {
      loss,
      ...(weight !== undefined && { weight, weighted_loss }),
      ...(hasEntropy && { entropy_coeff, entropy: at(input, 'entropy') }),
      ...(use_kl_loss && { kl_loss_coef, kl: at(input, 'kld') }),
      ...((hasEntropy || use_kl_loss) && { total: weighted_loss - entropyTerm + klTerm }),
    },
  )
}

/** None where the token had no part in an update. */
function lossPart(input: TokenInput): FilledFormula[] {
  const { table, sample, t } = input
  const { log_probs, old_log_probs, advantages, response_mask } = sample.columns
  const { rollout_is_weights, chosen } = sample.columns
  if (!log_probs || !old_log_probs || !advantages || !response_mask?.[t]) return []
  const { actor } = table.phase
  const row = { log_probs, old_log_probs, advantages, response_mask, rollout_is_weights, chosen }
  const lossAtLevel = atLevel(policyLossOf(table.loss_mode), actor.importance_sampling_level)
  const { label, rule, formula, numbers } = lossAtLevel
  const k = numbersOf({ numbers }, actor)
  const { loss } = rule(row, k)(t)
  const lines = [
    ...fillFormula(formula, { row, t, k, loss }),
    ...(actor.use_kl_loss ? klLines(input) : []),
    ...totalLines(input, loss),
  ]
  return [{ part: 'loss', name: `policy loss: ${label}`, lines, note: formula.note }]
}

/** Everything that was computed for one token, from its score to its loss, with its numbers. */
export function tokenFormulas(input: TokenInput): FilledFormula[] {
  const { adv_estimator } = input.table.phase
  const { formula, label } = estimatorOf(adv_estimator)
  const isCounted = at(input, 'response_mask') !== 0
  const lines = isCounted ? fillFormula(formula, input) : []
  return [
    ...rewardPart(input),
    { part: 'advantage', name: `advantage: ${label}`, lines, note: formula.note },
    ...lossPart(input),
  ]
}
