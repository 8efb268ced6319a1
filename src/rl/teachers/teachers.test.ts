import { expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import { gradientByLogits, logProbsOf } from './distribution.ref.ts'
import { jsdLoss, jsdToken } from './jsd.ref.ts'
import { jsdTopkLoss } from './jsd_topk.ref.ts'
import { opdAdvantages } from './opd_advantage.ref.ts'
import { sampledKl } from './sampled_kl.ref.ts'

const V = 4
const STUDENT = { data: [0.3, -1, 2, 0.5, 1, 0, -0.4, 0.2], vocabulary: V }
const TEACHER = { data: [1, 0.2, -0.6, 0.4, -1, 0.5, 0.3, 2], vocabulary: V }
const WEIGHTS = [0.75, 0.25]

/** Central differences of a loss by the student's logits. */
function differences(lossOf: (data: readonly number[]) => number): number[] {
  const h = 1e-5
  return STUDENT.data.map((_, i) => {
    const moved = (by: number) => lossOf(STUDENT.data.map((x, j) => (j === i ? x + by : x)))
    return (moved(h) - moved(-h)) / (2 * h)
  })
}

test.for([0, 0.3, 0.5, 1])('JSD at beta %s: the gradient is that of the loss', (beta) => {
  const config = { beta, temperature: 0.7 }
  const of = (data: readonly number[]) => jsdLoss({ data, vocabulary: V }, TEACHER, WEIGHTS, config)
  expectClose(
    of(STUDENT.data).d_logits,
    differences((data) => of(data).loss),
    {
      rtol: 1e-6,
      atol: 1e-8,
    },
  )
})

test.for([
  [0, true],
  [0.4, true],
  [1, true],
  [0, false],
  [0.4, false],
  [1, false],
] as const)('JSD on the likeliest tokens, beta %s, tail %s: likewise', ([beta, add_tail]) => {
  const config = { beta, temperature: 1.2, top_k: 2, add_tail }
  const of = (data: readonly number[]) =>
    jsdTopkLoss({ data, vocabulary: V }, TEACHER, WEIGHTS, config)
  expectClose(
    of(STUDENT.data).d_logits,
    differences((data) => of(data).loss),
    {
      rtol: 1e-6,
      atol: 1e-8,
    },
  )
})

test.for([0, 0.5, 1])('equal distributions have divergence 0 and no gradient, beta %s', (beta) => {
  const logProbs = logProbsOf(STUDENT, 0)
  const { loss, d_log_probs } = jsdToken(logProbs, logProbs, beta)
  expect(Math.abs(loss)).toBeLessThan(1e-15)
  const d = gradientByLogits(logProbs, d_log_probs)
  expect(Math.max(...d.map(Math.abs))).toBeLessThan(1e-15)
})

test('verl clamps k3 at 10, and there it has no slope', () => {
  expect(sampledKl('k3', 0)).toEqual({ value: 0, slope: 0 })
  expect(sampledKl('k3', -5)).toEqual({ value: 10, slope: 0 })
  expect(sampledKl('k3', -1).slope).toBeCloseTo(1 - Math.E, 12)
})

test('a discounted penalty counts what lies behind a token, a masked one as a step without a penalty', () => {
  const batch = {
    student_logps: [[-1, -1, -1]],
    teacher_logps: [[-3, -9, -2]],
    advantages: [[0, 0, 0]],
    mask: [[1, 0, 1]],
  }
  const { advantages, mean_reverse_kl } = opdAdvantages(batch, { kl_coef: 1, discount: 0.5 })
  expect(advantages).toEqual([[-2.25, -0.5, -1]])
  expect(mean_reverse_kl).toBe(1.5)
})
