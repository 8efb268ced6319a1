// Losses without an advantage: the entropy term and the cross-entropy.
import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { entropyLossRef, sftLossRef } from './entropy_loss.ref.ts'
import { entropy_loss, sft_loss } from './entropy_loss.ts'
import { POLICY_LOSS_SUMS } from './policy_loss_frame.ts'

const gpu = await Gpu.open()

const upload = (label: string, data: Float32Array) =>
  gpu.tensor(label, 'f32', [data.length], { data })
const nines = (n: number) => new Float32Array(n).fill(9)

describe('entropy_loss', () => {
  test.for([1, 255, 600])('matches the reference at %i tokens', async (tokens) => {
    const weight = randomValues(tokens, tokens).map((x) => (x < -0.5 ? 0 : (x + 1) / tokens))
    const entropy = randomValues(tokens, 2).map((x, i) => (weight[i] === 0 ? Number.NaN : x + 1))
    const tensors = {
      entropy: upload('entropy', entropy),
      loss_weights: upload('loss_weights', weight),
      d_entropy: upload('d_entropy', nines(tokens)),
      sums: upload('sums', new Float32Array(POLICY_LOSS_SUMS.length).fill(3)),
    }
    await gpu.run(entropy_loss, { tokens, entropy_coeff: 0.01 }, tensors)
    const [d_entropy, sums] = await gpu.read(tensors.d_entropy, tensors.sums)
    const expected = entropyLossRef(0.01, entropy, weight)
    expectClose(d_entropy, expected.d_entropy, { atol: 0 })
    expectClose(sums, [3, 3, 3, 3, 3 + expected.entropy, 3])
    expect(POLICY_LOSS_SUMS[4]).toBe('actor/entropy')
  })
})

describe('sft_loss', () => {
  test.for([1, 255, 600])('matches the reference at %i tokens', async (tokens) => {
    const logProbs = randomValues(tokens, tokens).map((x) => x - 2)
    const responseMask = Float32Array.from({ length: tokens }, (_, i) => Number(i % 7 !== 3))
    const inv_token_count = 1 / responseMask.reduce((a, b) => a + b, 0)
    const tensors = {
      log_probs: upload('log_probs', logProbs),
      response_mask: upload('response_mask', responseMask),
      d_log_probs: gpu.tensor('d_log_probs', 'f32', [tokens]),
      d_entropy: upload('d_entropy', nines(tokens)),
      sums: gpu.tensor('sums', 'f32', [1], { data: Float32Array.of(10) }),
    }
    await gpu.run(sft_loss, { tokens, inv_token_count }, tensors)
    const [d_log_probs, d_entropy, sums] = await gpu.read(
      tensors.d_log_probs,
      tensors.d_entropy,
      tensors.sums,
    )
    const expected = sftLossRef(inv_token_count, logProbs, responseMask)
    expectClose(d_log_probs, expected.d_log_probs)
    expect(d_entropy).toEqual(new Float32Array(tokens))
    expectClose(sums, [10 + expected.loss])
  })
})
