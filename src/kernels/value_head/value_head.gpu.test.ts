import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { scoredEntries } from '../vocab_head/scored.ref.ts'
import { listScored, type ScoredTokens } from '../vocab_head/scored.ts'
import {
  reordered,
  scatteredList,
  scatteredStates,
  shuffled,
  unreadAsNaN,
} from '../vocab_head/testing.ts'
import { valueHeadBackwardRef, valueHeadForwardRef } from './value_head.ref.ts'
import {
  value_head_backward_hidden,
  value_head_backward_weight,
  value_head_forward,
} from './value_head.ts'

const gpu = await Gpu.open()
const BIAS = 0.375

/** [tokens, hidden_size] around one invocation or workgroup per token, and 16 parts of tokens. */
const SIZES = [
  [1, 1],
  [15, 7],
  [90, 64],
  [16, 256],
  [17, 257],
  [65, 258],
  [2, 2048],
]

interface Inputs {
  readonly list: ScoredTokens
  readonly hidden: Float32Array
  readonly weight: Float32Array
  readonly d_values: Float32Array
}

/** Random inputs, slots and states in any order. Every fifth slot is not scored and its gradient is
 * garbage; every seventh is scored and has none. States that no scored token reads are NaN. */
function inputs(tokens: number, hiddenSize: number, seed: number): Inputs {
  const list = scatteredList(new Uint32Array(tokens), (slot) => slot % 5 !== 3, seed)
  const hidden = randomValues(scatteredStates(tokens) * hiddenSize, seed + 2)
  const gradient = (x: number, slot: number) => (slot % 7 === 5 ? 0 : slot % 5 === 3 ? 1e6 : x)
  return {
    list,
    hidden: unreadAsNaN(hidden, hiddenSize, list),
    weight: randomValues(hiddenSize, seed + 3),
    d_values: randomValues(tokens, seed + 4).map(gradient),
  }
}

type Grid = readonly [number, number?, number?]
const asIs = (grid: Grid): Grid => grid

/** What all three kernels leave in tensors of nines. */
async function outputs({ list, hidden, weight, d_values }: Inputs, grid = asIs) {
  const s = { tokens: list.tokens, hidden_size: weight.length }
  const states = [hidden.length / s.hidden_size, s.hidden_size]
  const nines = (label: string, ...shape: number[]) => {
    const data = new Float32Array(shape.reduce((n, d) => n * d, 1)).fill(9)
    return gpu.tensor(label, 'f32', shape, { data })
  }
  const tensors = {
    hidden: gpu.tensor('hidden', 'f32', states, { data: hidden }),
    weight: gpu.tensor('weight', 'f32', [1, s.hidden_size], { data: weight }),
    bias: gpu.tensor('bias', 'f32', [1], { data: Float32Array.of(BIAS) }),
    scored: gpu.tensor('scored', 'u32', [s.tokens, 4], { data: list.scored }),
    d_values: gpu.tensor('d_values', 'f32', [s.tokens], { data: d_values }),
    values: nines('values', s.tokens),
    d_hidden: nines('d_hidden', ...states),
    d_weight: nines('d_weight', 1, s.hidden_size),
    d_bias: nines('d_bias', 1),
  }
  const on = (kernel: { workgroups: (size: typeof s) => Grid }) => ({
    workgroups: () => grid(kernel.workgroups(s)),
  })
  const [hiddenKernel, weightKernel] = [value_head_backward_hidden, value_head_backward_weight]
  await gpu.run({ ...value_head_forward, ...on(value_head_forward) }, s, tensors)
  await gpu.run({ ...hiddenKernel, ...on(hiddenKernel) }, s, tensors)
  await gpu.run({ ...weightKernel, ...on(weightKernel) }, s, tensors)
  const [values, d_hidden, d_weight, d_bias] = await gpu.read(
    tensors.values,
    tensors.d_hidden,
    tensors.d_weight,
    tensors.d_bias,
  )
  gpu.free(...Object.values(tensors))
  return { values, d_hidden, d_weight, d_bias }
}

function expectReference(actual: Awaited<ReturnType<typeof outputs>>, x: Inputs) {
  const { list, hidden, weight, d_values } = x
  // Dot products of up to 2048 values below 1.
  expectClose(actual.values, valueHeadForwardRef(hidden, weight, BIAS, list), { atol: 1e-5 })
  const expected = valueHeadBackwardRef(hidden, weight, list, d_values)
  // Rows of scored tokens are overwritten; the others keep what they held.
  const read = new Set(scoredEntries(list).map(({ state }) => state))
  const isRead = (_: number, i: number) => read.has(Math.floor(i / weight.length))
  const kept = actual.d_hidden.filter((x, i) => !isRead(x, i))
  expect(kept).toEqual(new Float32Array(kept.length).fill(9))
  expectClose(actual.d_hidden.filter(isRead), expected.d_hidden.filter(isRead))
  // Sums of up to 330 products, added to 9.
  const d_weight = expected.d_weight.map((d) => 9 + d)
  expectClose(actual.d_weight, d_weight, { atol: 2e-5 })
  expectClose(actual.d_bias, [9 + expected.d_bias], { atol: 2e-5 })
}

test.for(SIZES)('values and gradients equal the reference at [%i, %i]', async ([tokens, C]) => {
  const x = inputs(tokens, C, C)
  expectReference(await outputs(x), x)
})

test('a padded batch is read by its list', async () => {
  const batch = { rows: 3, width: 8, first_column: 2, response_length: 4 }
  const mask = [1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
  const list = { tokens: 12, scored: listScored(batch, new Uint32Array(12), mask) }
  const hidden = unreadAsNaN(randomValues(24 * 7, 1), 7, list)
  const x = { list, hidden, weight: randomValues(7, 2), d_values: randomValues(12, 3) }
  const actual = await outputs(x)
  expect([...actual.values].map((y) => Number(y !== 0))).toEqual(mask)
  expectReference(actual, x)
})

test.for([7, 300])(
  'in any order of the list a token of %i columns has the same bits, and sums are right',
  async (hiddenSize) => {
    const x = inputs(70, hiddenSize, 5)
    const ordered = await outputs(x)
    const mixed = { ...x, list: reordered(x.list, shuffled(70, 6)) }
    const actual = await outputs(mixed)
    expect(actual.values).toEqual(ordered.values)
    expect(actual.d_hidden).toEqual(ordered.d_hidden)
    expectReference(actual, mixed)
  },
)

test.for([7, 300])('a token of %i columns has the same bits in any list', async (hiddenSize) => {
  const x = inputs(20, hiddenSize, 5)
  const { values } = await outputs(x)
  // Entries 11 to 19, four of them not scored, with slots 0 … 8.
  const last = { tokens: 9, scored: x.list.scored.slice(11 * 4) }
  const slots = [...last.scored].filter((_, i) => i % 4 === 1)
  for (let i = 0; i < 9; i++) last.scored[i * 4 + 1] = i
  const alone = await outputs({ ...x, list: last, d_values: new Float32Array(9) })
  expect([...alone.values]).toEqual(slots.map((slot) => values[slot]))
})

test.for([7, 300])('a list with none scored gives zeros: %i columns', async (hiddenSize) => {
  const x = inputs(65, hiddenSize, 9)
  const list = { tokens: 65, scored: x.list.scored.map((y, i) => (i % 4 === 3 ? 0 : y)) }
  const none = { ...x, list, hidden: x.hidden.map(() => Number.NaN) }
  const { values, d_hidden, d_weight, d_bias } = await outputs(none)
  expect(values).toEqual(new Float32Array(65))
  expect(new Set([...d_hidden, ...d_weight, ...d_bias])).toEqual(new Set([9]))
})

test.for([
  [330, 3],
  [6, 258],
])('a folded grid with an overhang covers every token once: [%i, %i]', async ([tokens, C]) => {
  const x = inputs(tokens, C, 8)
  expectReference(await outputs(x, ([groups]) => [Math.floor(groups / 2) + 1, 2]), x)
})
