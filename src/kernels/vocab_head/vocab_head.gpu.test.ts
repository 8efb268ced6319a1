import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { scoredEntries } from './scored.ref.ts'
import { listScored, type ScoredTokens } from './scored.ts'
import { type Inputs, inputs, reordered, shuffled, sizesOf, unreadAsNaN } from './testing.ts'
import { type HeadSizes, vocabHeadBackwardRef, vocabHeadForwardRef } from './vocab_head.ref.ts'
import {
  type VocabHeadKernels,
  vocab_head_backward_hidden,
  vocab_head_backward_weight,
  vocab_head_forward,
  vocab_head_range,
  vocabHeadKernels,
} from './vocab_head.ts'

const gpu = await Gpu.open()

const tiled: VocabHeadKernels = {
  forward: vocab_head_forward,
  range: vocab_head_range,
  backwardHidden: vocab_head_backward_hidden,
  backwardWeight: vocab_head_backward_weight,
}
const narrow = (hidden_size: number) => vocabHeadKernels({ hidden_size, vocab_size: 2 })

/** Kernels by hidden size; [tokens, hidden_size, vocab_size] around tiles of 16 × 64 × 16 and
 * workgroups of 64 tokens. */
const VARIANTS: { name: string; kernels: (c: number) => VocabHeadKernels; sizes: number[][] }[] = [
  {
    name: 'tiled',
    kernels: () => tiled,
    sizes: [
      [1, 1, 2],
      [15, 7, 19],
      [16, 64, 64],
      [17, 65, 65],
      [65, 18, 150],
      [2, 4096, 5],
    ],
  },
  {
    name: 'narrow',
    kernels: narrow,
    sizes: [
      [1, 4, 2],
      [15, 8, 19],
      [16, 64, 64],
      [17, 128, 128],
      [65, 32, 26],
      [9, 36, 5],
      [150, 64, 26],
    ],
  },
]

function upload(s: HeadSizes, x: Inputs) {
  const { tokens, scored } = x.list
  const slots = (label: string, data = new Float32Array(tokens).fill(9)) =>
    gpu.tensor(label, 'f32', [tokens], { data })
  const states = [x.hidden.length / s.hidden_size, s.hidden_size]
  return {
    hidden: gpu.tensor('hidden', 'f32', states, { data: x.hidden }),
    weight: gpu.tensor('weight', 'f32', [s.vocab_size, s.hidden_size], { data: x.weight }),
    scored: gpu.tensor('scored', 'u32', [tokens, 4], { data: scored }),
    d_log_probs: slots('d_log_probs', x.d_log_probs),
    d_entropy: slots('d_entropy', x.d_entropy),
    log_probs: slots('log_probs'),
    entropy: slots('entropy'),
    lse: slots('lse'),
    sum_pi_squared: slots('sum_pi_squared'),
  }
}

async function forward(s: HeadSizes, x: Inputs, kernels: VocabHeadKernels) {
  const tensors = upload(s, x)
  await gpu.run(kernels.forward, { ...s, tokens: x.list.tokens }, tensors)
  const outputs = [tensors.log_probs, tensors.entropy, tensors.lse, tensors.sum_pi_squared]
  const [log_probs, entropy, lse, sum_pi_squared] = await gpu.read(...outputs)
  return { tensors, log_probs, entropy, lse, sum_pi_squared }
}

/** d_hidden after the forward; `before` is what it held. */
async function backwardHidden(
  s: HeadSizes,
  x: Inputs,
  kernels: VocabHeadKernels,
  before = new Float32Array(x.hidden.length),
) {
  const { tensors } = await forward(s, x, kernels)
  const d_hidden = gpu.tensor('d_hidden', 'f32', tensors.hidden.shape, { data: before })
  const size = { ...s, tokens: x.list.tokens }
  await gpu.run(kernels.backwardHidden, { ...size, first_id: 0 }, { ...tensors, d_hidden })
  return (await gpu.read(d_hidden))[0]
}

/** [splits, V, C] after the forward; they held garbage. */
async function backwardWeight(s: HeadSizes, x: Inputs, kernels: VocabHeadKernels, splits: number) {
  const { tensors } = await forward(s, x, kernels)
  const shape = [splits, s.vocab_size, s.hidden_size]
  const data = new Float32Array(splits * x.weight.length).fill(9)
  const partials = gpu.tensor('partials', 'f32', shape, { data })
  const size = { ...s, tokens: x.list.tokens, splits, first_id: 0 }
  await gpu.run(kernels.backwardWeight, size, { ...tensors, partials })
  return (await gpu.read(partials))[0]
}

function summed(partials: ArrayLike<number>, length: number): Float64Array {
  const sum = new Float64Array(length)
  for (let i = 0; i < partials.length; i++) sum[i % length] += partials[i]
  return sum
}

const OUTPUTS = ['log_probs', 'entropy', 'lse', 'sum_pi_squared'] as const

// Logits of magnitude 10 carry 1e-6 of f32 rounding each and more from a sum over C; WGSL's log is
// good to 5e-7.
const LOOSE = { atol: 2e-5, rtol: 1e-5 }

describe.each(VARIANTS)('vocab_head_forward, $name', ({ kernels, sizes }) => {
  test.for(sizes)('matches the reference at [%i, %i, %i]', async ([tokens, C, V]) => {
    const s = sizesOf(C, V)
    const x = inputs(tokens, s, 10 * V)
    const actual = await forward(s, x, kernels(C))
    // Unscored tokens give 0 although their states are NaN.
    const expected = vocabHeadForwardRef(s, x.hidden, x.weight, x.list)
    expectClose(actual.log_probs, expected.log_probs, LOOSE)
    expectClose(actual.entropy, expected.entropy, LOOSE)
    expectClose(actual.lse, expected.lse, LOOSE)
    // Twice the logits' rounding, relative: a sum of squared probabilities.
    expectClose(actual.sum_pi_squared, expected.sum_pi_squared, { atol: 1e-7, rtol: 4e-5 })
  })

  test('a padded batch is read by its list', async () => {
    const s = sizesOf(20, 30)
    const batch = { rows: 3, width: 8, first_column: 2, response_length: 4 }
    const x = inputs(12, s, 6)
    const mask = [1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    const ids = Array.from({ length: 12 }, (_, i) => 2 * i)
    const list = { tokens: 12, scored: listScored(batch, ids, mask) }
    const hidden = unreadAsNaN(randomValues(24 * 20, 7), 20, list)
    const { log_probs } = await forward(s, { ...x, list, hidden }, kernels(20))
    const expected = vocabHeadForwardRef(s, hidden, x.weight, list)
    expect([...expected.log_probs].map((y) => Number(y !== 0))).toEqual(mask)
    expectClose(log_probs, expected.log_probs, LOOSE)
  })

  test('a distribution on one token has log-prob 0, entropy 0 and one outcome, whatever the size of its logit', async () => {
    const s = { ...sizesOf(4, 80), inv_temperature: 0.75 }
    const x = inputs(1, s, 1)
    x.hidden.fill(1)
    x.weight.fill(-1000)
    x.weight.fill(1250, 70 * 4, 71 * 4)
    x.list.scored[2] = 70
    const { log_probs, entropy, sum_pi_squared } = await forward(s, x, kernels(4))
    expect([log_probs[0], entropy[0], sum_pi_squared[0]]).toEqual([0, 0, 1])
  })

  test('the temperature is a live value', async () => {
    const s = sizesOf(20, 30)
    const x = inputs(6, s, 5)
    const tensors = upload(s, x)
    const program = await gpu.record('head', ['inv_temperature'], (r) =>
      r.run(
        kernels(20).forward,
        { ...s, tokens: 6, inv_temperature: (live) => live.inv_temperature },
        tensors,
      ),
    )
    for (const inv_temperature of [1, 0.5]) {
      gpu.replay(program, { inv_temperature })
      const [entropy] = await gpu.read(tensors.entropy)
      const at = { ...s, inv_temperature }
      expectClose(entropy, vocabHeadForwardRef(at, x.hidden, x.weight, x.list).entropy, LOOSE)
    }
  })

  test('a token has the same bits in any list, at any place, beside any neighbours', async () => {
    const s = sizesOf(52, 100)
    const x = inputs(35, s, 77)
    x.hidden.set(randomValues(x.hidden.length, 78))
    const all = withScored(x.list, () => true)
    const whole = await forward(s, { ...x, list: all }, kernels(52))
    for (let seed = 0; seed < 6; seed++) {
      // Every token stands elsewhere in its tile, and a third of its neighbours, also those before
      // it, are not scored.
      const isScored = (slot: number) => slot % 3 !== seed % 3
      const list = withScored(reordered(all, shuffled(35, seed)), isScored)
      const mixed = await forward(s, { ...x, list }, kernels(52))
      for (const name of OUTPUTS)
        expect(mixed[name]).toEqual(whole[name].map((y, slot) => (isScored(slot) ? y : 0)))
    }
  })

  test('a list with none scored writes zeros', async () => {
    const s = sizesOf(20, 30)
    const x = inputs(65, s, 9)
    x.hidden.fill(Number.NaN)
    const none = { ...x, list: withScored(x.list, () => false) }
    const actual = await forward(s, none, kernels(20))
    for (const name of OUTPUTS) expect(actual[name]).toEqual(new Float32Array(65))
  })
})

/** The same list with other tokens scored, in the same order. */
function withScored({ tokens, scored }: ScoredTokens, isScored: (slot: number) => boolean) {
  return {
    tokens,
    scored: scored.map((x, i) => (i % 4 === 3 ? Number(isScored(scored[i - 2])) : x)),
  }
}

describe.each(VARIANTS)('vocab_head_backward, $name', ({ kernels, sizes }) => {
  test.for(sizes)('matches the reference at [%i, %i, %i]', async ([tokens, C, V]) => {
    const s = sizesOf(C, V)
    const x = inputs(tokens, s, 20 * V)
    const { hidden, weight, list, d_log_probs, d_entropy } = x
    const expected = vocabHeadBackwardRef(s, hidden, weight, list, d_log_probs, d_entropy)
    // Rows of scored tokens are overwritten (those without gradient perhaps not: they hold 0), the
    // others keep what they held.
    const slots = new Map(scoredEntries(list).map(({ state, slot }) => [state, slot]))
    const holds = hidden.map((_, i) => {
      const slot = slots.get(Math.floor(i / C))
      return slot === undefined ? 9 : slot % 7 === 5 ? 0 : 5
    })
    const d_hidden = await backwardHidden(s, x, kernels(C), holds)
    const kept = expected.d_hidden.map((y, i) => (holds[i] === 9 ? 9 : y))
    expectClose(d_hidden, kept, LOOSE)
    expect(d_hidden.filter((_, i) => holds[i] !== 5)).toEqual(holds.filter((y) => y !== 5))

    for (const splits of [1, 3]) {
      const partials = await backwardWeight(s, x, kernels(C), splits)
      // Up to 65 tokens add up, each as exact as d_hidden.
      expectClose(summed(partials, weight.length), expected.d_weight, { atol: 5e-5, rtol: 1e-5 })
    }
  })

  test('any order of the list is right, and the gradient of a state is the same bits', async () => {
    const s = sizesOf(20, 30)
    const x = inputs(70, s, 3)
    const ordered = await backwardHidden(s, x, kernels(20))
    const list = reordered(x.list, shuffled(70, 4))
    const mixed = { ...x, list }
    expect(await backwardHidden(s, mixed, kernels(20))).toEqual(ordered)
    const { d_weight } = vocabHeadBackwardRef(
      s,
      x.hidden,
      x.weight,
      list,
      x.d_log_probs,
      x.d_entropy,
    )
    const partials = await backwardWeight(s, mixed, kernels(20), 2)
    expectClose(summed(partials, d_weight.length), d_weight, { atol: 5e-5, rtol: 1e-5 })
  })

  test('a list with none scored leaves the states’ gradient alone and gives parts of zeros', async () => {
    const s = sizesOf(20, 30)
    const x = inputs(65, s, 9)
    const none = { ...x, list: withScored(x.list, () => false) }
    const nines = new Float32Array(x.hidden.length).fill(9)
    expect(await backwardHidden(s, none, kernels(20), nines)).toEqual(nines)
    expect(await backwardWeight(s, none, kernels(20), 2)).toEqual(new Float32Array(2 * 600))
  })
})
