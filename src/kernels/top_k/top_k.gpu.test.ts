import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { topKRef } from './top_k.ref.ts'
import { TOP_K, top_k } from './top_k.ts'

const gpu = await Gpu.open()

async function run(data: Float32Array, vocab_size: number, kernel = top_k) {
  const rows = data.length / vocab_size
  const filled = { data: new Uint32Array(rows * TOP_K).fill(9) }
  const logits = gpu.tensor('logits', 'f32', [rows, vocab_size], { data })
  const ids = gpu.tensor('ids', 'u32', [rows, TOP_K], filled)
  const probs = gpu.tensor('probs', 'f32', [rows, TOP_K])
  await gpu.run(kernel, { rows, vocab_size }, { logits, ids, probs })
  const [readIds, readProbs] = await gpu.read(ids, probs)
  return { ids: readIds, probs: readProbs }
}

test.for([
  [1, 5],
  [9, 11],
  [3, 64],
  [2, 65],
  [4, 1000],
  [2, 50_000],
])('equals the reference at [%i, %i]', async ([rows, vocab_size]) => {
  const data = randomValues(rows * vocab_size, vocab_size).map((x) => 12 * x)
  const actual = await run(data, vocab_size)
  const expected = topKRef(data, vocab_size, TOP_K)
  expect(actual.ids).toEqual(expected.ids)
  expectClose(actual.probs, expected.probs)
})

test('ties go to the smaller id, within a lane and between lanes', async () => {
  const vocab_size = 300
  const rows = [
    new Float32Array(vocab_size),
    new Float32Array(vocab_size).fill(-3e38),
    // 7, 71 and 135 are one lane's.
    Float32Array.from({ length: vocab_size }, (_, v) => ([135, 71, 7, 200, 8].includes(v) ? 2 : 1)),
    Float32Array.from({ length: vocab_size }, (_, v) => (v === 299 ? 40 : 0)),
  ]
  const data = Float32Array.from(rows.flatMap((row) => [...row]))
  const actual = await run(data, vocab_size)
  const expected = topKRef(data, vocab_size, TOP_K)
  expect(actual.ids).toEqual(expected.ids)
  expectClose(actual.probs, expected.probs)
})

test('a grid folded into two dimensions covers every row once', async () => {
  const data = randomValues(7 * 20, 1)
  const actual = await run(data, 20, { ...top_k, workgroups: () => [4, 2] })
  expect(actual.ids).toEqual(topKRef(data, 20, TOP_K).ids)
})
