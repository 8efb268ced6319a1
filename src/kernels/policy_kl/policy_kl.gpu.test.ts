import { describe, expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { policyKlRef } from './policy_kl.ref.ts'
import { policy_kl, policy_kl_narrow } from './policy_kl.ts'

const gpu = await Gpu.open()

interface Inputs {
  readonly hidden_p: Float32Array
  readonly hidden_q: Float32Array
  readonly weight: Float32Array
  readonly mask: Float32Array
}

/** Logits of about ±`reach`; q is p moved by `distance` of that; every fifth token is masked and
 * holds NaN. */
function inputs(
  tokens: number,
  hidden_size: number,
  vocab_size: number,
  distance = 0.5,
  reach = 8,
) {
  const scale = Math.sqrt(reach / Math.sqrt(hidden_size))
  const masked = (i: number) => Math.floor(i / hidden_size) % 5 === 3
  const values = (count: number, seed: number) => randomValues(count, seed).map((x) => x * scale)
  const p = values(tokens * hidden_size, hidden_size)
  const q = values(tokens * hidden_size, hidden_size + 1).map((x, i) => p[i] + distance * x)
  return {
    hidden_p: p.map((x, i) => (masked(i) ? Number.NaN : x)),
    hidden_q: q.map((x, i) => (masked(i) ? Number.NaN : x)),
    weight: values(vocab_size * hidden_size, vocab_size),
    mask: Float32Array.from({ length: tokens }, (_, i) => (masked(i * hidden_size) ? 0 : 1)),
  }
}

async function divergences(kernel: typeof policy_kl, hidden_size: number, x: Inputs) {
  const tokens = x.mask.length
  const vocab_size = x.weight.length / hidden_size
  const s = { tokens, hidden_size, vocab_size }
  const nines = new Float32Array(tokens).fill(9)
  const states = [tokens, hidden_size]
  const tensors = {
    hidden_p: gpu.tensor('hidden_p', 'f32', states, { data: x.hidden_p }),
    hidden_q: gpu.tensor('hidden_q', 'f32', states, { data: x.hidden_q }),
    weight: gpu.tensor('weight', 'f32', [vocab_size, hidden_size], { data: x.weight }),
    mask: gpu.tensor('mask', 'f32', [tokens], { data: x.mask }),
    kl_pq: gpu.tensor('kl_pq', 'f32', [tokens], { data: nines }),
    kl_qp: gpu.tensor('kl_qp', 'f32', [tokens], { data: nines }),
  }
  await gpu.run(kernel, s, tensors)
  const [kl_pq, kl_qp] = await gpu.read(tensors.kl_pq, tensors.kl_qp)
  gpu.free(...Object.values(tensors))
  return { kl_pq, kl_qp, expected: policyKlRef(x.hidden_p, x.hidden_q, x.weight, x.mask, s) }
}

// f32 logits of magnitude 10 carry 1e-6 each, and so does a sum over the vocabulary.
const LOOSE = { atol: 5e-6, rtol: 2e-5 }

describe.for([policy_kl, policy_kl_narrow])('$name', (kernel) => {
  test.for([
    [1, 1, 2],
    [9, 7, 19],
    [65, 20, 64],
    [13, 64, 65],
    [17, 130, 150],
  ])('equals the reference at [%i, %i, %i]', async ([tokens, hidden_size, vocab_size]) => {
    const x = inputs(tokens, hidden_size, vocab_size)
    const { kl_pq, kl_qp, expected } = await divergences(kernel, hidden_size, x)
    expectClose(kl_pq, expected.kl_pq, LOOSE)
    expectClose(kl_qp, expected.kl_qp, LOOSE)
  })

  test('equal states give exactly 0, close ones a small number that is not negative', async () => {
    const x = inputs(40, 24, 90, 1e-3)
    const same = await divergences(kernel, 24, { ...x, hidden_q: x.hidden_p })
    expect([...same.kl_pq, ...same.kl_qp].every((kl) => kl === 0)).toBe(true)
    const close = await divergences(kernel, 24, x)
    expect([...close.kl_pq, ...close.kl_qp].every((kl) => kl >= 0)).toBe(true)
    expect(Math.max(...close.expected.kl_pq)).toBeGreaterThan(2e-6)
    expectClose(close.kl_pq, close.expected.kl_pq, { atol: 1e-6 })
    expectClose(close.kl_qp, close.expected.kl_qp, { atol: 1e-6 })
  })

  test('probabilities that underflow, and logits in the thousands, leave the sums finite', async () => {
    // States are logits: the unembedding is the identity. exp(-3000) is 0 in f64 too.
    const weight = Float32Array.from({ length: 9 }, (_, i) => (i % 4 === 0 ? 1 : 0))
    const hidden_p = Float32Array.of(3000, 0, -1, 0, 0, -3000, 1, 2, 3)
    const hidden_q = Float32Array.of(0, 3000, -1, 0, 0, 3000, 5001, 5002, 5003)
    const x = { hidden_p, hidden_q, weight, mask: Float32Array.of(1, 1, 1) }
    const { kl_pq, kl_qp } = await divergences(kernel, 3, x)
    expectClose(kl_pq, [3000, 3000 - Math.log(2), 0], { atol: 1e-6, rtol: 1e-6 })
    expectClose(kl_qp, [3000, 3000 + Math.log(2), 0], { atol: 1e-6, rtol: 1e-6 })
  })

  test('a token has the same bits in any batch, and a folded grid covers every token once', async () => {
    const [tokens, hidden_size, vocab_size] = [150, 12, 70]
    const x = inputs(tokens, hidden_size, vocab_size)
    const whole = await divergences(kernel, hidden_size, x)
    const part = {
      ...x,
      hidden_p: x.hidden_p.slice(3 * hidden_size),
      hidden_q: x.hidden_q.slice(3 * hidden_size),
      mask: x.mask.slice(3),
    }
    const alone = await divergences(kernel, hidden_size, part)
    expect(alone.kl_pq).toEqual(whole.kl_pq.slice(3))
    expect(alone.kl_qp).toEqual(whole.kl_qp.slice(3))
    const [groups] = kernel.workgroups({ tokens, hidden_size, vocab_size })
    const grid = [Math.floor(groups / 2) + 1, 2] as const
    const folded = await divergences({ ...kernel, workgroups: () => grid }, hidden_size, x)
    expect(folded.kl_pq).toEqual(whole.kl_pq)
    expect(folded.kl_qp).toEqual(whole.kl_qp)
  })
})

test.for([
  [2, 40, 49_152],
  [3, 2048, 1100],
])('a language model’s sizes: [%i, %i, %i]', async ([tokens, hidden_size, vocab_size]) => {
  const x = inputs(tokens, hidden_size, vocab_size)
  const { kl_pq, kl_qp, expected } = await divergences(policy_kl, hidden_size, x)
  expectClose(kl_pq, expected.kl_pq, LOOSE)
  expectClose(kl_qp, expected.kl_qp, LOOSE)
})
