import { expect, test } from 'vitest'

import { expectClose, randomValues } from '../testing.ts'
import { listScored, listScoredAt } from './scored.ts'
import { type HeadSizes, vocabHeadBackwardRef, vocabHeadForwardRef } from './vocab_head.ref.ts'
import {
  headSplits,
  vocab_head_backward_weight,
  vocab_head_forward,
  vocabHeadKernels,
} from './vocab_head.ts'

const sizes: HeadSizes = { hidden_size: 3, vocab_size: 5, inv_temperature: 0.8 }
const batch = { rows: 2, width: 4, first_column: 1, response_length: 2 }
const tokens = 4
const list = { tokens, scored: listScored(batch, [4, 0, 2, 2], [1, 1, 1, 1]) }
const hidden = randomValues(batch.rows * batch.width * sizes.hidden_size, 1)
const weight = randomValues(sizes.vocab_size * sizes.hidden_size, 2).map((x) => x * 3)

test('two logits a = log 3, b = 0: log-probs log 3/4 and log 1/4, entropy and Σ p² by hand', () => {
  const s = { hidden_size: 1, vocab_size: 2 }
  const one = { ...s, inv_temperature: 1 }
  const z = [Math.log(3), 0]
  const both = { tokens: 2, scored: listScoredAt([0], 2, [0, 1], [1, 1]) }
  const forward = vocabHeadForwardRef(one, [1, 1], z, both)
  expectClose(forward.log_probs, [Math.log(3 / 4), Math.log(1 / 4)], { atol: 1e-14 })
  expectClose(forward.lse, [Math.log(4), Math.log(4)], { atol: 1e-14 })
  const h = -0.75 * Math.log(0.75) - 0.25 * Math.log(0.25)
  expectClose(forward.entropy, [h, h], { atol: 1e-14 })
  expectClose(forward.sum_pi_squared, [10 / 16, 10 / 16], { atol: 1e-14 })
  // At half the logits the odds are sqrt(3) : 1.
  const warm = vocabHeadForwardRef({ ...s, inv_temperature: 0.5 }, [1, 1], z, both)
  expect(Math.exp(warm.log_probs[0] - warm.log_probs[1])).toBeCloseTo(Math.sqrt(3), 12)
})

test('a response token is scored by its entry’s state, into its entry’s slot; others give 0', () => {
  const state = new Float64Array(hidden.length)
  state[6 * sizes.hidden_size] = 1
  const scored = Uint32Array.of(6, 2, 4, 1, 1, 0, 0, 1, 5, 3, 1, 0, 6, 1, 1, 0)
  const f = vocabHeadForwardRef(sizes, state, weight, { tokens: 4, scored })
  const uniform = -Math.log(sizes.vocab_size)
  expectClose([f.log_probs[0], f.log_probs[1], f.log_probs[3]], [uniform, 0, 0])
  expectClose(f.entropy.subarray(0, 2), [-uniform, 0])
  const z = Array.from({ length: 5 }, (_, v) => 0.8 * weight[v * sizes.hidden_size])
  const lse = Math.log(z.reduce((sum, x) => sum + Math.exp(x), 0))
  expectClose([f.log_probs[2], f.lse[2]], [z[4] - lse, lse], { atol: 1e-14 })
})

test('the backward reference is the finite difference of the forward reference', () => {
  const d_log_probs = [0.7, -1.3, 0, 0.4]
  const d_entropy = [-0.2, 0.5, 0, 0]
  const objective = (h: Float64Array, w: Float64Array) => {
    const f = vocabHeadForwardRef(sizes, h, w, list)
    let sum = 0
    for (let i = 0; i < tokens; i++)
      sum += d_log_probs[i] * f.log_probs[i] + d_entropy[i] * f.entropy[i]
    return sum
  }
  const [h, w] = [Float64Array.from(hidden), Float64Array.from(weight)]
  const slopes = (values: Float64Array) =>
    values.map((x, i) => {
      const step = 1e-5
      values[i] = x + step
      const up = objective(h, w)
      values[i] = x - step
      const down = objective(h, w)
      values[i] = x
      return (up - down) / (2 * step)
    })
  const backward = vocabHeadBackwardRef(sizes, h, w, list, d_log_probs, d_entropy)
  // Central differences in f64 with step 1e-5 are good to about 1e-10.
  expectClose(backward.d_hidden, slopes(h), { atol: 1e-8, rtol: 1e-7 })
  expectClose(backward.d_weight, slopes(w), { atol: 1e-8, rtol: 1e-7 })
})

test('headSplits fills a GPU for small vocabularies and keeps the partials small', () => {
  expect(headSplits(10, { hidden_size: 64, vocab_size: 32 })).toBe(1)
  expect(headSplits(512, { hidden_size: 32, vocab_size: 26 })).toBe(16)
  // Tiled: no part is shorter than a tile.
  expect(headSplits(512, { hidden_size: 32, vocab_size: 26, narrowKernels: false })).toBe(8)
  expect(headSplits(100_000, { hidden_size: 64, vocab_size: 32 })).toBe(128)
  expect(headSplits(100_000, { hidden_size: 256, vocab_size: 32 })).toBe(256)
  expect(headSplits(100_000, { hidden_size: 1024, vocab_size: 1024 })).toBe(2)
  expect(headSplits(4096, { hidden_size: 896, vocab_size: 151_936 })).toBe(1)
})

test('small heads of whole vectors take the narrow kernels, one instance for all vocabularies', () => {
  const narrow = vocabHeadKernels({ hidden_size: 32, vocab_size: 26 })
  expect(narrow.forward.name).toBe('vocab_head_forward_narrow_32')
  expect(vocabHeadKernels({ hidden_size: 32, vocab_size: 128 })).toBe(narrow)
  const wide = vocabHeadKernels({ hidden_size: 128, vocab_size: 128 })
  expect(wide.forward.name).toBe('vocab_head_forward_narrow_128')
  expect(wide.backwardWeight).toBe(vocab_head_backward_weight)
  const without = { hidden_size: 32, vocab_size: 26, narrowKernels: false }
  expect(vocabHeadKernels(without)).toBe(vocabHeadKernels({ hidden_size: 32, vocab_size: 129 }))
  for (const [hidden_size, vocab_size] of [
    [32, 129],
    [132, 26],
    [30, 26],
  ])
    expect(vocabHeadKernels({ hidden_size, vocab_size }).forward).toBe(vocab_head_forward)
})
