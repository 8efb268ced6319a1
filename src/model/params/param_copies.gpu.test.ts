import { expect, test } from 'vitest'
import { decodeBfloat16, encodeBfloat16 } from '../../kernels/device/bfloat16.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { modelShape } from '../layout/config.ts'
import { initialWeights, paramLayout, sharedRuns, unpackWeights } from '../layout/params.ts'
import { TINY } from '../testing.ts'
import { createParamBuffers, type Stored } from './param_buffers.ts'
import { copyParams, readParams, wholeTensor, writeParams } from './param_copies.ts'

const gpu = await Gpu.open({ segmentBytes: 4096 })
const layout = paramLayout(modelShape({ ...TINY, vocab_size: 100 }))
const weights = initialWeights(layout, 5)
const create = (label: string, stored: Stored = 'f32') =>
  createParamBuffers(gpu, layout, label, 'weights', () => stored)

test('values go into several buffers and come back, whole and piece by piece', async () => {
  const [whole, pieces] = [create('whole'), create('pieces')]
  expect(whole.stretches.length).toBeGreaterThan(3)
  writeParams(gpu, whole, weights)
  for (let at = 0; at < weights.length; at += 1000)
    writeParams(gpu, pieces, weights.subarray(at, at + 1000), at)
  const { reads } = gpu.counts
  const other = gpu.tensor('other', 'f32', [2], { data: Float32Array.of(3, 4) })
  const [a, b, c] = await readParams(gpu, whole, pieces, wholeTensor(other))
  expect(gpu.counts.reads - reads).toBe(1)
  expect(a).toEqual(weights)
  expect(b).toEqual(weights)
  expect([...c]).toEqual([3, 4])
})

test('what does not fit one staging buffer comes back in several readbacks', async () => {
  const buffers = create('weights')
  writeParams(gpu, buffers, weights)
  const { reads } = gpu.counts
  const small = { facts: { ...gpu.facts, max_buffer_bytes: 10_000 }, read: gpu.read.bind(gpu) }
  const [found] = await readParams(small, buffers)
  expect(gpu.counts.reads - reads).toBeGreaterThan(2)
  expect(found).toEqual(weights)
})

test('bits of bfloat16 are kept, values go to the nearest, and vectors stay f32', async () => {
  const [fromBits, fromValues] = [create('bits', 'bfloat16'), create('values', 'bfloat16')]
  const bits = encodeBfloat16(weights)
  for (let at = 0; at < bits.length; at += 500)
    writeParams(gpu, fromBits, bits.subarray(at, at + 500), at)
  writeParams(gpu, fromValues, weights)
  const [a, b] = await readParams(gpu, fromBits, fromValues)
  expect(a).toEqual(decodeBfloat16(bits))
  const [exact, rounded] = [unpackWeights(layout, weights), unpackWeights(layout, b)]
  for (const { name, shape } of layout.params)
    expect(rounded[name], name).toEqual(
      shape.length === 1 ? exact[name] : decodeBfloat16(encodeBfloat16(exact[name])),
    )
})

test('runs are copied between layouts that are cut in other places', async () => {
  const toLayout = paramLayout(modelShape({ ...TINY, vocab_size: 100 }), 'value_head')
  const from = create('from')
  writeParams(gpu, from, weights)
  const runs = sharedRuns(layout, toLayout)
  const expected = new Float32Array(toLayout.size)
  for (const { fromOffset, toOffset, count } of runs)
    expected.set(weights.subarray(fromOffset, fromOffset + count), toOffset)
  const to = createParamBuffers(gpu, toLayout, 'to', 'weights', (segment) =>
    segment === 1 ? undefined : 'f32',
  )
  copyParams(gpu, from, to, runs)
  expected.fill(0, toLayout.segment_ends[0], toLayout.segment_ends[1])
  expect((await readParams(gpu, to))[0]).toEqual(expected)
  expect(() => copyParams(gpu, from, create('packed', 'bfloat16'))).toThrow(/another dtype/)
})

test('a piece that begins within a word of two is refused', () => {
  const packed = create('packed', 'bfloat16')
  expect(() => writeParams(gpu, packed, Uint16Array.of(1, 2, 3), 1)).toThrow(/split a word/)
})
