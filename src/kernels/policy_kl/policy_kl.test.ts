import { expect, test } from 'vitest'
import { expectClose, randomValues } from '../testing.ts'
import { policyKlRef } from './policy_kl.ref.ts'
import { policy_kl, policy_kl_narrow, policyKl } from './policy_kl.ts'

test('two outcomes, by hand', () => {
  // p = (3/4, 1/4), q = (1/2, 1/2); the second token is masked.
  const p = Float64Array.of(Math.log(3), 5)
  const q = Float64Array.of(0, 7)
  const s = { tokens: 2, hidden_size: 1, vocab_size: 2 }
  const { kl_pq, kl_qp } = policyKlRef(p, q, [1, 0], [1, 0], s)
  expectClose(kl_pq, [0.75 * Math.log(1.5) + 0.25 * Math.log(0.5), 0], { atol: 1e-15 })
  expectClose(kl_qp, [0.5 * Math.log(2 / 3) + 0.5 * Math.log(2), 0], { atol: 1e-15 })
})

test('for small differences both are half of the variance of the logits’ difference', () => {
  const s = { tokens: 1, hidden_size: 6, vocab_size: 6 }
  const identity = Float64Array.from({ length: 36 }, (_, i) => (i % 7 === 0 ? 1 : 0))
  const p = Float64Array.from(randomValues(6, 1))
  const d = randomValues(6, 2).map((x) => 1e-4 * x)
  const { kl_pq, kl_qp } = policyKlRef(
    p,
    p.map((x, i) => x + d[i]),
    identity,
    [1],
    s,
  )
  const weights = p.map((x) => Math.exp(x))
  const total = weights.reduce((a, b) => a + b)
  const mean = (f: (i: number) => number) =>
    weights.reduce((sum, w, i) => sum + (w / total) * f(i), 0)
  const variance = mean((i) => d[i] ** 2) - mean((i) => d[i]) ** 2
  // The next order is smaller by the size of d.
  expectClose([kl_pq[0], kl_qp[0]], [variance / 2, variance / 2], { atol: 0, rtol: 1e-3 })
})

test('small sizes take the kernel without barriers', () => {
  const chosen = (hidden_size: number, vocab_size: number) =>
    policyKl({ hidden_size, vocab_size }).whole
  expect(chosen(128, 128)).toBe(policy_kl_narrow)
  expect(chosen(129, 20)).toBe(policy_kl)
  expect(chosen(20, 129)).toBe(policy_kl)
  const without = { hidden_size: 20, vocab_size: 20, narrowKernels: false }
  expect(policyKl(without).whole).toBe(policy_kl)
})
