// A head in several ranges of the vocabulary, and a head of bfloat16 numbers.
import { expect, test } from 'vitest'
import type { DType, Tensor } from '../device/base/tensor.ts'
import { Gpu } from '../device/gpu.ts'
import { expectClose } from '../testing.ts'
import { type Inputs, inputs, sizesOf } from './testing.ts'
import { type HeadSizes, vocabHeadBackwardRef, vocabHeadForwardRef } from './vocab_head.ref.ts'
import {
  RUNNING_SUMS,
  vocab_head_backward_hidden,
  vocab_head_backward_weight,
  vocab_head_finish,
  vocab_head_forward,
  vocab_head_range,
  vocabHeadKernels,
} from './vocab_head.ts'

const gpu = await Gpu.open()

/** The kernels that a head of many tokens takes, in float32 or in bfloat16. */
const LARGE = { hidden_size: 8, vocab_size: 1000 }

/** Rows first … end of a head, as a binding of their own. */
interface Range {
  readonly first: number
  readonly rows: number
  readonly weight: Tensor
}

const rangesOf = (s: HeadSizes, weight: Float32Array, ends: readonly number[], dtype: DType) =>
  ends.map((end, i): Range => {
    const first = ends[i - 1] ?? 0
    const values = weight.slice(first * s.hidden_size, end * s.hidden_size)
    const shape = [values.length]
    const range =
      dtype === 'f32'
        ? gpu.tensor('range', dtype, shape, { data: values })
        : gpu.tensor('range', 'bfloat16', shape, { data: bitsOf(values) })
    return { first, rows: end - first, weight: range }
  })

/** Upper halves of float32 numbers. */
const bitsOf = (values: Float32Array) =>
  Uint16Array.from(new Uint32Array(values.slice().buffer), (bits) => bits >>> 16)

/** The float32 numbers that bfloat16 can hold, nearest to zero. */
const decoded = (values: Float32Array) =>
  new Float32Array(Uint32Array.from(bitsOf(values), (bits) => bits << 16).buffer)

/** Forward and both backwards, range after range. */
async function run(s: HeadSizes, x: Inputs, ends: readonly number[], dtype: DType = 'f32') {
  const { tokens, scored } = x.list
  const slots = (label: string, data = new Float32Array(tokens).fill(9)) =>
    gpu.tensor(label, 'f32', [tokens], { data })
  const states = [x.hidden.length / s.hidden_size, s.hidden_size]
  const out = {
    log_probs: slots('log_probs'),
    entropy: slots('entropy'),
    lse: slots('lse'),
    sum_pi_squared: slots('sum_pi_squared'),
  }
  const read = {
    hidden: gpu.tensor('hidden', 'f32', states, { data: x.hidden }),
    scored: gpu.tensor('scored', 'u32', [tokens, 4], { data: scored }),
  }
  const gradients = {
    d_log_probs: slots('d_log_probs', x.d_log_probs),
    d_entropy: slots('d_entropy', x.d_entropy),
  }
  // What an earlier batch left there.
  const running = gpu.tensor('running', 'f32', [tokens, RUNNING_SUMS], {
    data: new Float32Array(tokens * RUNNING_SUMS).fill(7),
  })
  const d_hidden = gpu.tensor('d_hidden', 'f32', states)
  const kernels = vocabHeadKernels(LARGE, dtype)
  const ranges = rangesOf(s, x.weight, ends, dtype)
  const size = ({ rows, first }: Range) => ({ ...s, tokens, vocab_size: rows, first_id: first })
  if (ranges.length === 1)
    await gpu.run(kernels.forward, { ...s, tokens }, { ...read, weight: ranges[0].weight, ...out })
  else {
    for (const range of ranges)
      await gpu.run(kernels.range, size(range), { ...read, weight: range.weight, running })
    await gpu.run(vocab_head_finish, { tokens }, { scored: read.scored, running, ...out })
  }
  const d_weight: number[] = []
  for (const range of ranges) {
    const head = { ...read, weight: range.weight, lse: out.lse, entropy: out.entropy, ...gradients }
    await gpu.run(kernels.backwardHidden, size(range), { ...head, d_hidden })
    const partials = gpu.tensor('partials', 'f32', [range.rows, s.hidden_size])
    await gpu.run(kernels.backwardWeight, { ...size(range), splits: 1 }, { ...head, partials })
    for (const x of (await gpu.read(partials))[0]) d_weight.push(x)
  }
  const [log_probs, entropy, lse, sum_pi_squared, d] = await gpu.read(
    ...Object.values(out),
    d_hidden,
  )
  return { log_probs, entropy, lse, sum_pi_squared, d_hidden: d, d_weight }
}

// As in vocab_head.gpu.test.ts.
const LOOSE = { atol: 2e-5, rtol: 1e-5 }

test.for([
  ['in one range', [150]],
  ['in two', [64, 150]],
  ['in ranges of odd sizes, one of them a single token', [63, 64, 131, 150]],
] as const)('a head %s: what the reference says of the whole', async ([, ends]) => {
  const s = sizesOf(18, 150)
  const x = inputs(65, s, 31)
  const { hidden, weight, list } = x
  const actual = await run(s, x, ends)
  const expected = vocabHeadForwardRef(s, hidden, weight, list)
  expectClose(actual.log_probs, expected.log_probs, LOOSE)
  expectClose(actual.entropy, expected.entropy, LOOSE)
  expectClose(actual.lse, expected.lse, LOOSE)
  expectClose(actual.sum_pi_squared, expected.sum_pi_squared, { atol: 1e-7, rtol: 4e-5 })
  const d = vocabHeadBackwardRef(s, hidden, weight, list, x.d_log_probs, x.d_entropy)
  expectClose(actual.d_hidden, d.d_hidden, LOOSE)
  expectClose(actual.d_weight, d.d_weight, { atol: 5e-5, rtol: 1e-5 })
})

test('a range whose logits are all far below says nothing of the policy', async () => {
  const s = sizesOf(4, 96)
  const x = inputs(3, s, 2)
  x.hidden.fill(1)
  x.weight.fill(-1000)
  x.weight.fill(1250, 70 * 4, 71 * 4)
  for (let i = 0; i < 3; i++) x.list.scored[i * 4 + 2] = 70
  const { log_probs, entropy, sum_pi_squared } = await run(s, x, [64, 80, 96])
  expect([log_probs[0], entropy[0], sum_pi_squared[0]]).toEqual([0, 0, 1])
})

test.for([[[150]], [[40, 150]]] as const)(
  'a head of bfloat16 has the bits of the float32 head that it decodes to, %j',
  async ([ends]) => {
    const s = sizesOf(18, 150)
    const x = inputs(35, s, 8)
    const half = await run(s, x, ends, 'bfloat16')
    expect(half).toEqual(await run(s, { ...x, weight: decoded(x.weight) }, ends))
    expect(half).not.toEqual(await run(s, x, ends))
  },
)

test.skipIf(!process.env.LONG_TESTS)(
  'a vocabulary of 151,936 in ranges of 32,768 is read like any other',
  async () => {
    const s = sizesOf(4, 151_936)
    const x = inputs(5, s, 12)
    const ends = [32_768, 65_536, 98_304, 131_072, 151_936]
    const { log_probs, entropy } = await run(s, x, ends)
    const expected = vocabHeadForwardRef(s, x.hidden, x.weight, x.list)
    // Rounding of sums over 2,400 strips.
    expectClose(log_probs, expected.log_probs, { atol: 1e-4, rtol: 1e-5 })
    expectClose(entropy, expected.entropy, { atol: 1e-4, rtol: 1e-5 })
  },
)

test('every kernel of a large head is the tiled one', () => {
  expect(vocabHeadKernels(LARGE)).toEqual({
    forward: vocab_head_forward,
    range: vocab_head_range,
    backwardHidden: vocab_head_backward_hidden,
    backwardWeight: vocab_head_backward_weight,
  })
})
