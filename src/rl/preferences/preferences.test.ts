import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { answerUpdate, mismatchedKl } from './answer_objective.ts'
import type { ScoredAnswers } from './answers.ts'
import { F_DIVERGENCES } from './divergence.ts'
import type { PairedLoss, UnpairedLoss } from './losses/preference_loss.ts'
import { PREFERENCE_NUMBERS, type PreferenceValues } from './losses/preference_numbers.ts'
import { PREFERENCE_LOSSES, preferenceLossOf } from './losses.ts'
import { type PairObjective, pairRefusal, pairUpdate } from './pair_objective.ts'

const DEFAULTS = Object.fromEntries(
  Object.entries(PREFERENCE_NUMBERS).map(([name, number]) => [name, number.default]),
) as PreferenceValues
test('the docs list every loss with its formula', () => {
  const docs = readFileSync('docs/algorithms.md', 'utf8')
  for (const { name, label, formula } of PREFERENCE_LOSSES)
    expect(docs).toContain(`| \`${name}\` | ${label} | ${formula} |`)
})

/** Where every loss has a slope at every number. */
const K: PreferenceValues = {
  ...DEFAULTS,
  beta: 0.3,
  label_smoothing: 0.1,
  discopop_tau: 0.7,
  cpo_alpha: 0.6,
  simpo_gamma: 0.2,
  alpha: 0.25,
  desirable_weight: 1.3,
  undesirable_weight: 0.7,
}

const COLUMNS = 5
/** Three pairs of 2 to 5 tokens; column 0 of some rows is a prompt. */
const MASK = [
  0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1,
]
const noise = (seed: number) =>
  MASK.map((_, i) => -0.1 - 2.9 * Math.abs(Math.sin(12.9898 * (i + 1) + seed)))

const ANSWERS: ScoredAnswers = {
  rows: 6,
  columns: COLUMNS,
  log_probs: noise(1),
  ref_log_probs: noise(2),
  completion_mask: MASK,
  // The first token is a prompt's wherever it is not the completion's.
  sequence_mask: MASK.map((m, i) => (i % COLUMNS === 0 ? 1 : m)),
  sum_p_squared: MASK.map((_, i) => 0.2 + 0.1 * Math.sin(i)),
}
const LABELS = [true, true, false, true, false, false]

const objectiveOf = (loss: PairedLoss, more: Partial<PairObjective> = {}): PairObjective => ({
  terms: [{ loss, weight: 1, k: K }],
  f_divergence_type: 'reverse_kl',
  f_alpha_divergence_coef: 0.5,
  ld_alpha: null,
  use_weighting: false,
  reference_free: false,
  ...more,
})
const paired = (name: string) => preferenceLossOf(name) as PairedLoss

/** Central differences of a loss by every log-prob. */
function differences(lossOf: (answers: ScoredAnswers) => number): number[] {
  const h = 1e-5
  return MASK.map((_, i) => {
    const at = (step: number) => {
      const log_probs = Array.from(ANSWERS.log_probs)
      log_probs[i] += step
      return lossOf({ ...ANSWERS, log_probs })
    }
    return (at(h) - at(-h)) / (2 * h)
  })
}

function expectGradient(found: ArrayLike<number>, wanted: readonly number[]): void {
  wanted.forEach((x, i) => {
    expect(found[i], `token ${i}`).toBeCloseTo(x, 8)
  })
  expect(wanted.some((x) => Math.abs(x) > 1e-3)).toBe(true)
}

const ALL_PAIRED = PREFERENCE_LOSSES.filter((loss) => loss.data === 'pairs')
const ALL_UNPAIRED = PREFERENCE_LOSSES.filter((loss) => loss.data === 'answers')

describe('gradients by the log-prob of every token are those of finite differences', () => {
  test.for(ALL_PAIRED)('$name', (loss) => {
    const objective = objectiveOf(loss)
    const lossOf = (answers: ScoredAnswers) => pairUpdate(objective, answers).loss
    expectGradient(pairUpdate(objective, ANSWERS).d_log_probs, differences(lossOf))
  })

  test.for(ALL_UNPAIRED)('$name', (loss) => {
    const lossOf = (answers: ScoredAnswers) =>
      answerUpdate({ loss, k: K }, answers, LABELS, 0.4).loss
    const found = answerUpdate({ loss, k: K }, ANSWERS, LABELS, 0.4)
    expectGradient(found.d_log_probs, differences(lossOf))
  })

  test.for(F_DIVERGENCES)('DPO with %s', (f_divergence_type) => {
    const objective = objectiveOf(paired('sigmoid'), { f_divergence_type })
    const lossOf = (answers: ScoredAnswers) => pairUpdate(objective, answers).loss
    expectGradient(pairUpdate(objective, ANSWERS).d_log_probs, differences(lossOf))
  })

  test('several losses with weights, and LD-DPO', () => {
    const terms = (['sigmoid', 'bco_pair', 'sft'] as const).map((name, i) => ({
      loss: paired(name),
      weight: [0.8, 0.2, 1][i],
      k: K,
    }))
    const objective = objectiveOf(paired('sigmoid'), { terms, ld_alpha: 0.4 })
    const lossOf = (answers: ScoredAnswers) => pairUpdate(objective, answers).loss
    expectGradient(pairUpdate(objective, ANSWERS).d_log_probs, differences(lossOf))
  })
})

/** One pair of one token each. */
const tokens = (c: number, r: number, refC = 0, refR = 0): ScoredAnswers => ({
  rows: 2,
  columns: 1,
  log_probs: [c, r],
  ref_log_probs: [refC, refR],
  completion_mask: [1, 1],
})

describe('numbers by hand', () => {
  test('DPO where policy and reference agree: log 2, and no accuracy', () => {
    const found = pairUpdate(objectiveOf(paired('sigmoid')), tokens(-1, -2, -1, -2))
    expect(found.loss).toBeCloseTo(Math.log(2), 14)
    expect(found.metrics['rewards/accuracies']).toBe(0)
    expect(found.metrics['logps/chosen']).toBe(-1)
  })

  test('a reference that is left out of the loss stays in the rewards', () => {
    const objective = objectiveOf(paired('hinge'), { reference_free: true })
    const found = pairUpdate(objective, tokens(-1, -2, -3, -1))
    // 1 − 0.3 · 1, whatever the reference says.
    expect(found.loss).toBeCloseTo(0.7, 14)
    expect(found.metrics['rewards/margins']).toBeCloseTo(0.3 * (2 - -1), 14)
  })

  test('KTO compares with the mean of mismatched pairs, never below 0', () => {
    expect(mismatchedKl(tokens(-1, -2, -2, -4))).toBeCloseTo(1.5, 14)
    expect(mismatchedKl(tokens(-3, -2, -2, -2))).toBe(0)
    const kto = preferenceLossOf('kto') as UnpairedLoss
    const k = { ...K, beta: 1 }
    const answers = tokens(-1, -1, -2.5, -2.5)
    const found = answerUpdate({ loss: kto, k }, answers, [true, false], 1.5)
    // Both rewards equal the KL: half of each weight.
    expect(found.loss).toBeCloseTo((1.3 + 0.7) / 4, 14)
    expect(found.metrics).toMatchObject({ kl: 1.5, 'rewards/margins': 0 })
    const liked = answerUpdate({ loss: kto, k }, answers, [true, true], 1.5)
    expect(liked.metrics).not.toHaveProperty('rewards/rejected')
    expect(liked.metrics).not.toHaveProperty('rewards/margins')
  })
})

describe('what contradicts itself is refused by name', () => {
  test.for([
    ['nca_pair', { f_divergence_type: 'forward_kl' }, 'f_divergence_type: expected reverse_kl'],
    ['aot', { use_weighting: true }, 'use_weighting: expected off with the loss aot'],
    ['sft', { use_weighting: true }, 'use_weighting: expected off with the loss sft'],
    ['simpo', { ld_alpha: 0.5 }, 'ld_alpha: expected none with the loss simpo'],
    ['apo_zero', { reference_free: true }, 'reference_free: expected off'],
  ] as const)('%s', ([name, more, message]) => {
    const objective = objectiveOf(paired(name), more)
    expect(pairRefusal(objective)).toContain(message)
    expect(() => pairUpdate(objective, ANSWERS)).toThrow(message)
  })

  test('beta 0, and EXO without label smoothing', () => {
    const terms = (loss: string, k: Partial<PreferenceValues>) => ({
      terms: [{ loss: paired(loss), weight: 1, k: { ...K, ...k } }],
    })
    const zero = objectiveOf(paired('sigmoid'), terms('sigmoid', { beta: 0 }))
    expect(pairRefusal(zero)).toBe('beta: expected above 0, got 0')
    const exo = objectiveOf(paired('exo_pair'), terms('exo_pair', { label_smoothing: 0 }))
    expect(pairRefusal(exo)).toContain('label_smoothing: expected above 0')
  })

  test('a loss that is none', () => {
    expect(() => preferenceLossOf('dpo')).toThrow('loss_type: expected one of sigmoid, ipo')
  })
})
