// Runs golden cases of preference losses: TRL's DPO, CPO, ORPO and KTO trainers on tables of
// per-token log-probs.
import { answerUpdate, mismatchedKl } from '../../src/rl/preferences/answer_objective.ts'
import type { ScoredAnswers } from '../../src/rl/preferences/answers.ts'
import { F_DIVERGENCES } from '../../src/rl/preferences/divergence.ts'
import type {
  PairedLoss,
  TrlTrainer,
  UnpairedLoss,
} from '../../src/rl/preferences/losses/preference_loss.ts'
import type { PreferenceValues } from '../../src/rl/preferences/losses/preference_numbers.ts'
import {
  type PairObjective,
  type PreferenceUpdate,
  pairRefusal,
  pairUpdate,
} from '../../src/rl/preferences/pair_objective.ts'
import { CaseError, type Fields, type GoldenMatrix } from '../base/fields.ts'
import type { Handler, Outputs } from '../base/fixture.ts'
import type { Tolerance } from '../base/report.ts'
import { lossOfTrl, ownNumbers, readNumbers } from './trl_losses.ts'

/** Relative to the largest entry of an array. */
const TOLERANCE = { rtol: 1e-9, atol: 1e-11 }
/** TRL keeps EXO's label smoothing in float32. */
const EXO = { rtol: 1e-7, atol: 1e-9 }
/** TRL computes these in float32. */
const FLOAT32 = { rtol: 5e-6, atol: 1e-9 }

/** The loss that a case names. */
const pairedOfTrl = (trainer: TrlTrainer, lossType?: string) =>
  lossOfTrl(trainer, lossType, 'config.loss_type') as PairedLoss

/** An objective of one loss. */
const plain = (loss: PairedLoss, k: PreferenceValues): PairObjective => ({
  terms: [{ loss, weight: 1, k }],
  f_divergence_type: 'reverse_kl',
  f_alpha_divergence_coef: 0.5,
  ld_alpha: null,
  use_weighting: false,
  reference_free: false,
})

function refuse(objective: PairObjective): PairObjective {
  const refusal = pairRefusal(objective)
  if (refusal) throw new CaseError(`config.${refusal}`)
  return objective
}

/** Pairs of an even number of rows. */
function readAnswers(inputs: Fields, { hasReference = true } = {}): ScoredAnswers {
  const policy = inputs.matrix('policy_logps')
  if (policy.rows % 2 !== 0)
    throw new CaseError(`inputs.policy_logps: expected an even number of rows, got ${policy.rows}`)
  return {
    rows: policy.rows,
    columns: policy.columns,
    log_probs: policy.data,
    completion_mask: inputs.matrix('completion_mask', policy).data,
    sequence_mask: inputs.optionalMatrix('attention_mask', policy)?.data,
    ...(hasReference && { ref_log_probs: inputs.matrix('ref_logps', policy).data }),
  }
}

/** What TRL's trainers return. */
function updateOutputs(found: PreferenceUpdate, expected: Fields, size: Tolerance): Outputs {
  const { loss, d_log_probs, metrics } = found
  return bySize(expected, size, { loss, grad_policy_logps: d_log_probs, metrics })
}

/** Values with a tolerance relative to the largest expected entry of each. */
function bySize(expected: Fields, size: Tolerance, values: Record<string, unknown>): Outputs {
  return Object.fromEntries(
    Object.entries(values).map(([name, actual]) => {
      if (size === 'exact') return [name, { actual, tolerance: size }]
      const entries = expected.has(name) ? numbersIn(expected.raw(name)) : []
      const largest = entries.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
      return [name, { actual, tolerance: { ...size, atol: size.atol + size.rtol * largest } }]
    }),
  )
}

const numbersIn = (value: unknown): number[] => {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

const DPO_NUMBERS = ['beta', 'label_smoothing', 'discopop_tau'] as const

const dpo: Handler = ({ inputs, config, expected }) => {
  const names = config.texts('loss_types')
  const weights = config.vector('loss_weights', names.length)
  const k = readNumbers(config, DPO_NUMBERS)
  const terms = names.map((name, i) => {
    const loss = lossOfTrl('DPOTrainer', name, 'config.loss_types') as PairedLoss
    return { loss, weight: weights[i], k: ownNumbers(loss, k) }
  })
  const objective = refuse({
    terms,
    f_divergence_type: config.choice('f_divergence_type', F_DIVERGENCES),
    f_alpha_divergence_coef: config.number('f_alpha_divergence_coef'),
    ld_alpha: config.optionalNumber('ld_alpha') ?? null,
    use_weighting: config.flag('use_weighting'),
    reference_free: false,
  })
  const answers = readAnswers(inputs)
  const shape = { rows: answers.rows, columns: answers.columns }
  const sum_p_squared = inputs.optionalMatrix('policy_sum_p_squared', shape)?.data
  const isFloat32 = objective.f_divergence_type === 'alpha_divergence'
  const size = isFloat32 ? FLOAT32 : names.includes('exo_pair') ? EXO : TOLERANCE
  const run = () =>
    updateOutputs(pairUpdate(objective, { ...answers, sum_p_squared }), expected, size)
  return [{ on: 'driver', run }]
}

/** Sums of log-probs instead of tokens: rows of one column. */
const dpo_old: Handler = ({ inputs, config, expected }) => {
  const chosen = inputs.vector('chosen_logps')
  const pairs = chosen.length
  const both = (a: Float64Array, name: string) =>
    Float64Array.from([...a, ...inputs.vector(name, pairs)])
  const lossType = config.choice('loss_type', ['sigmoid', 'hinge', 'ipo', 'robust', 'exo_pair'])
  config.choice('f_divergence_type', ['reverse_kl'])
  const k = readNumbers(config, ['beta', 'label_smoothing'])
  const objective = refuse({
    ...plain(pairedOfTrl('DPOTrainer', lossType), k),
    reference_free: config.flag('reference_free'),
  })
  const answers = {
    rows: 2 * pairs,
    columns: 1,
    log_probs: both(chosen, 'rejected_logps'),
    ref_log_probs: both(inputs.vector('ref_chosen_logps', pairs), 'ref_rejected_logps'),
    completion_mask: new Float64Array(2 * pairs).fill(1),
  }
  const run = () => {
    const { loss, losses, rewards, d_log_probs } = pairUpdate(objective, answers)
    return bySize(expected, lossType === 'exo_pair' ? EXO : TOLERANCE, {
      loss,
      losses,
      chosen_rewards: rewards.subarray(0, pairs),
      rejected_rewards: rewards.subarray(pairs),
      grad_chosen_logps: d_log_probs.subarray(0, pairs),
      grad_rejected_logps: d_log_probs.subarray(pairs),
    })
  }
  return [{ on: 'driver', run }]
}

const CPO_NUMBERS = ['beta', 'label_smoothing', 'cpo_alpha', 'alpha', 'simpo_gamma'] as const

const cpo_simpo: Handler = ({ inputs, config, expected }) => {
  const loss = pairedOfTrl('CPOTrainer', config.optionalText('loss_type'))
  const objective = refuse(plain(loss, readNumbers(config, CPO_NUMBERS)))
  const answers = readAnswers(inputs, { hasReference: false })
  const run = () => {
    const found = pairUpdate(objective, answers)
    // TRL reports 0 for one that it did not compute.
    const metrics = { nll_loss: 0, ...found.metrics }
    return updateOutputs({ ...found, metrics }, expected, TOLERANCE)
  }
  return [{ on: 'driver', run }]
}

const orpo: Handler = ({ inputs, config, expected }) => {
  const objective = refuse(plain(pairedOfTrl('ORPOTrainer'), readNumbers(config, ['beta'])))
  const answers = readAnswers(inputs, { hasReference: false })
  const run = () => updateOutputs(pairUpdate(objective, answers), expected, FLOAT32)
  return [{ on: 'driver', run }]
}

const kto: Handler = ({ inputs, config, expected }) => {
  const lossType = config.optionalText('loss_type')
  const loss = lossOfTrl('KTOTrainer', lossType, 'config.loss_type') as UnpairedLoss
  const k = readNumbers(config, ['beta', 'desirable_weight', 'undesirable_weight'])
  const policy = inputs.matrix('policy_logps')
  const answersOf = (logProbs: GoldenMatrix, reference: string, mask: string): ScoredAnswers => ({
    rows: logProbs.rows,
    columns: logProbs.columns,
    log_probs: logProbs.data,
    ref_log_probs: inputs.matrix(reference, logProbs).data,
    completion_mask: inputs.matrix(mask, logProbs).data,
  })
  const answers = answersOf(policy, 'ref_logps', 'completion_mask')
  const labels = Array.from(inputs.vector('label', policy.rows), (label) => {
    if (label !== 0 && label !== 1)
      throw new CaseError(`inputs.label: expected 0 or 1, got ${label}`)
    return label === 1
  })
  const mismatched = loss.hasKl
    ? answersOf(inputs.matrix('policy_KL_logps'), 'ref_KL_logps', 'KL_completion_mask')
    : undefined
  const run = () => {
    const kl = mismatched ? mismatchedKl(mismatched) : 0
    return updateOutputs(answerUpdate({ loss, k }, answers, labels, kl), expected, TOLERANCE)
  }
  return [{ on: 'driver', run }]
}

/** By the stem of the file's name. */
export const PREFERENCE_CASES: Readonly<Record<string, Handler>> = {
  dpo,
  dpo_alpha_divergence: dpo,
  dpo_old,
  cpo_simpo,
  orpo,
  kto,
}
