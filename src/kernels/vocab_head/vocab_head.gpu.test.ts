import { describe, expect, test } from 'vitest'

import { Gpu } from '../gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import {
  type HeadSizes,
  vocab_head_backward_ref,
  vocab_head_forward_ref,
} from './vocab_head.ref.ts'
import {
  type VocabHeadKernels,
  vocab_head_backward_hidden,
  vocab_head_backward_weight,
  vocab_head_forward,
  vocabHeadKernels,
} from './vocab_head.ts'

const gpu = await Gpu.open()

const tiled: VocabHeadKernels = {
  forward: vocab_head_forward,
  backward_hidden: vocab_head_backward_hidden,
  backward_weight: vocab_head_backward_weight,
}
const narrow = (hidden_size: number) => vocabHeadKernels({ hidden_size, vocab_size: 2 })

/**
 * Kernels by hidden size; [rows, width, first_column, response_length, hidden_size, vocab_size] around tiles of
 * 16 × 64 × 16 and workgroups of 64 tokens.
 */
const VARIANTS: { name: string; kernels: (c: number) => VocabHeadKernels; sizes: number[][] }[] = [
  {
    name: 'tiled',
    kernels: () => tiled,
    sizes: [
      [1, 2, 0, 1, 1, 2],
      [3, 9, 3, 5, 7, 19],
      [2, 10, 1, 8, 64, 64],
      [5, 12, 4, 7, 65, 65],
      [9, 16, 7, 8, 18, 150],
      [1, 3, 0, 2, 4096, 5],
    ],
  },
  {
    name: 'narrow',
    kernels: narrow,
    sizes: [
      [1, 2, 0, 1, 4, 2],
      [3, 9, 3, 5, 8, 19],
      [9, 16, 7, 8, 32, 26],
      [2, 10, 1, 8, 64, 64],
      [5, 12, 4, 7, 128, 128],
    ],
  },
]
const sizesOf = ([
  rows,
  width,
  first_column,
  response_length,
  hidden_size,
  vocab_size,
]: number[]): HeadSizes => ({
  rows,
  width,
  first_column,
  response_length,
  hidden_size,
  vocab_size,
  inv_temperature: 0.75,
})

/** Random inputs whose logits reach about ±10; every fifth token is masked and has no gradient. */
function inputs(s: HeadSizes, seed: number) {
  const tokens = s.rows * s.response_length
  const scale = Math.sqrt(12 / Math.sqrt(s.hidden_size))
  const masked = (x: number, i: number) => (i % 5 === 3 ? 0 : x)
  return {
    hidden: randomValues(s.rows * s.width * s.hidden_size, seed).map((x) => x * scale),
    weight: randomValues(s.vocab_size * s.hidden_size, seed + 1).map((x) => x * scale),
    response_ids: Uint32Array.from(randomValues(tokens, seed + 2), (x) =>
      Math.floor(((x + 1) / 2) * s.vocab_size),
    ),
    response_mask: new Float32Array(tokens).fill(1).map(masked),
    d_log_probs: randomValues(tokens, seed + 3).map(masked),
    d_entropy: randomValues(tokens, seed + 4).map(masked),
  }
}
type Inputs = ReturnType<typeof inputs>

function upload(s: HeadSizes, x: Inputs) {
  const batch = [s.rows, s.response_length]
  return {
    hidden: gpu.tensor('hidden', 'f32', [s.rows * s.width, s.hidden_size], { data: x.hidden }),
    weight: gpu.tensor('weight', 'f32', [s.vocab_size, s.hidden_size], { data: x.weight }),
    response_ids: gpu.tensor('response_ids', 'u32', batch, { data: x.response_ids }),
    response_mask: gpu.tensor('response_mask', 'f32', batch, { data: x.response_mask }),
    d_log_probs: gpu.tensor('d_log_probs', 'f32', batch, { data: x.d_log_probs }),
    d_entropy: gpu.tensor('d_entropy', 'f32', batch, { data: x.d_entropy }),
    log_probs: gpu.tensor('log_probs', 'f32', batch),
    entropy: gpu.tensor('entropy', 'f32', batch),
    lse: gpu.tensor('lse', 'f32', batch),
    sum_pi_squared: gpu.tensor('sum_pi_squared', 'f32', batch),
  }
}

async function forward(s: HeadSizes, x: Inputs, kernels: VocabHeadKernels) {
  const tensors = upload(s, x)
  await gpu.run(kernels.forward, { ...s }, tensors)
  const outputs = [tensors.log_probs, tensors.entropy, tensors.lse, tensors.sum_pi_squared]
  const [log_probs, entropy, lse, sum_pi_squared] = await gpu.read(...outputs)
  return { tensors, log_probs, entropy, lse, sum_pi_squared }
}

// Logits of magnitude 10 carry 1e-6 of f32 rounding each and more from a sum over C; WGSL's log is good to 5e-7.
const LOOSE = { atol: 2e-5, rtol: 1e-5 }

describe.each(VARIANTS)('vocab_head_forward, $name', ({ kernels, sizes }) => {
  test.for(sizes)('matches the reference at [%i, %i, %i, %i, %i, %i]', async (size) => {
    const s = sizesOf(size)
    const x = inputs(s, 10 * s.vocab_size)
    const actual = await forward(s, x, kernels(s.hidden_size))
    const expected = vocab_head_forward_ref(s, x.hidden, x.weight, x.response_ids, x.response_mask)
    expectClose(actual.log_probs, expected.log_probs, LOOSE)
    expectClose(actual.entropy, expected.entropy, LOOSE)
    expectClose(actual.lse, expected.lse, LOOSE)
    // Twice the logits' rounding, relative: a sum of squared probabilities.
    expectClose(actual.sum_pi_squared, expected.sum_pi_squared, { atol: 1e-7, rtol: 4e-5 })
  })

  test('a distribution on one token has log-prob 0, entropy 0 and one outcome, whatever the size of its logit', async () => {
    const s = sizesOf([1, 1, 0, 1, 4, 80])
    const x = inputs(s, 1)
    x.hidden.fill(1)
    x.weight.fill(-1000)
    x.weight.fill(1250, 70 * 4, 71 * 4)
    x.response_ids.fill(70)
    const { log_probs, entropy, sum_pi_squared } = await forward(s, x, kernels(s.hidden_size))
    expect([log_probs[0], entropy[0], sum_pi_squared[0]]).toEqual([0, 0, 1])
  })

  test('the temperature is a live value', async () => {
    const s = sizesOf([2, 6, 2, 3, 20, 30])
    const x = inputs(s, 5)
    const tensors = upload(s, x)
    const program = await gpu.record('head', ['inv_temperature'], (r) =>
      r.run(
        kernels(s.hidden_size).forward,
        { ...s, inv_temperature: (live) => live.inv_temperature },
        tensors,
      ),
    )
    for (const inv_temperature of [1, 0.5]) {
      gpu.replay(program, { inv_temperature })
      const [entropy] = await gpu.read(tensors.entropy)
      const at = { ...s, inv_temperature }
      const expected = vocab_head_forward_ref(
        at,
        x.hidden,
        x.weight,
        x.response_ids,
        x.response_mask,
      )
      expectClose(entropy, expected.entropy, LOOSE)
    }
  })

  test('a token has the same bits in any batch, at any place, beside any neighbours', async () => {
    const s = sizesOf([7, 9, 3, 5, 52, 100])
    const x = inputs(s, 77)
    x.response_mask.fill(1)
    const whole = await forward(s, x, kernels(s.hidden_size))
    const row = s.width * s.hidden_size
    for (let first = 0; first < s.rows; first++) {
      // Rows from `first` on: every token stands elsewhere in its tile, and half of its neighbours are masked.
      const part: Inputs = {
        ...x,
        hidden: x.hidden.slice(first * row),
        response_ids: x.response_ids.slice(first * s.response_length),
        response_mask: x.response_mask
          .slice(first * s.response_length)
          .map((m, i) => (first > 0 && i % 2 === first % 2 ? 0 : m)),
        d_log_probs: x.d_log_probs.slice(first * s.response_length),
        d_entropy: x.d_entropy.slice(first * s.response_length),
      }
      const alone = await forward({ ...s, rows: s.rows - first }, part, kernels(s.hidden_size))
      for (const name of ['log_probs', 'entropy', 'lse', 'sum_pi_squared'] as const) {
        const expected = whole[name]
          .slice(first * s.response_length)
          .map((y, i) => (part.response_mask[i] ? y : 0))
        expect(alone[name]).toEqual(expected)
      }
    }
  })
})

describe.each(VARIANTS)('vocab_head_backward, $name', ({ kernels, sizes }) => {
  test.for(sizes)('matches the reference at [%i, %i, %i, %i, %i, %i]', async (size) => {
    const s = sizesOf(size)
    const x = inputs(s, 20 * s.vocab_size)
    const { tensors } = await forward(s, x, kernels(s.hidden_size))
    const d_hidden = gpu.tensor('d_hidden', 'f32', [s.rows * s.width, s.hidden_size])
    await gpu.run(kernels(s.hidden_size).backward_hidden, { ...s }, { ...tensors, d_hidden })
    const expected = vocab_head_backward_ref(
      s,
      x.hidden,
      x.weight,
      x.response_ids,
      x.d_log_probs,
      x.d_entropy,
    )
    const [actual] = await gpu.read(d_hidden)
    expectClose(actual, expected.d_hidden, LOOSE)

    const length = s.vocab_size * s.hidden_size
    for (const splits of [1, 3]) {
      const garbage = new Float32Array(splits * length).fill(9)
      const shape = [splits, s.vocab_size, s.hidden_size]
      const partials = gpu.tensor('partials', 'f32', shape, { data: garbage })
      await gpu.run(
        kernels(s.hidden_size).backward_weight,
        { ...s, splits },
        { ...tensors, partials },
      )
      const [parts] = await gpu.read(partials)
      const d_weight = new Float64Array(length)
      parts.forEach((value, i) => {
        d_weight[i % length] += value
      })
      // Up to 72 tokens add up, each as exact as d_hidden.
      expectClose(d_weight, expected.d_weight, { atol: 5e-5, rtol: 1e-5 })
    }
  })

  test('tokens without gradient give exactly 0, and states that predict no response token are left alone', async () => {
    const s = sizesOf([3, 8, 2, 4, 20, 30])
    const x = inputs(s, 3)
    const columns = s.hidden_size
    const isResponse = (at: number) =>
      at % s.width >= s.first_column && at % s.width < s.first_column + s.response_length
    const token = (at: number) =>
      Math.floor(at / s.width) * s.response_length + (at % s.width) - s.first_column
    const isMoved = (at: number) => isResponse(at) && x.response_mask[token(at)] === 1
    // A masked token has lse 0; with logits in the thousands exp(z - lse) would overflow.
    x.hidden.forEach((_, i) => {
      if (!isMoved(Math.floor(i / columns))) x.hidden[i] = 1000
    })
    const { tensors } = await forward(s, x, kernels(s.hidden_size))
    const data = new Float32Array(x.hidden.length).fill(9)
    const d_hidden = gpu.tensor('d_hidden', 'f32', [s.rows * s.width, columns], { data })
    await gpu.run(kernels(s.hidden_size).backward_hidden, { ...s }, { ...tensors, d_hidden })
    const [actual] = await gpu.read(d_hidden)
    const expected = vocab_head_backward_ref(
      s,
      x.hidden,
      x.weight,
      x.response_ids,
      x.d_log_probs,
      x.d_entropy,
    ).d_hidden.map((y, i) => {
      const at = Math.floor(i / columns)
      return isMoved(at) ? y : isResponse(at) ? 0 : 9
    })
    expectClose(actual, expected, LOOSE)
    const zeros = actual.filter((_, i) => expected[i] === 0)
    expect(zeros.length).toBe(2 * columns)
    expect(zeros.every((y) => y === 0)).toBe(true)
  })
})
