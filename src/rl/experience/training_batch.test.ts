import { expect, test } from 'vitest'
import { MemoryPlan, type Tensor } from '../../kernels/device/base/tensor.ts'
import { testBatch } from '../../model/testing.ts'
import type { RolloutBatch } from './batch.ts'
import { createBatchTensors, TrainingBatch } from './training_batch.ts'

const P = 3
const R = 4
const LENGTHS = [4, 1, 3, 2].map((response, i) => ({ prompt: 1 + (i % 3), response }))
const BATCH: RolloutBatch = {
  ...testBatch(LENGTHS, { P, R, vocab_size: 50, seed: 3 }),
  prompt_length: P,
  response_length: R,
  response_lengths: Uint32Array.from(LENGTHS, ({ response }) => response),
  is_ended: LENGTHS.map(() => true),
}

function uploaded(micro: number, useRemovePadding: boolean) {
  const written = new Map<string, Float32Array | Uint32Array>()
  const write = (tensor: Tensor, data: Float32Array | Uint32Array) => {
    written.set(tensor.label, data)
  }
  const size = { rows: 4, prompt_length: P, response_length: R }
  const batch = new TrainingBatch(
    { write },
    createBatchTensors(new MemoryPlan(), size),
    useRemovePadding,
  )
  batch.upload(BATCH, micro)
  return { batch, written }
}

test('each micro-batch is a stream of its own, at the beginning of its rows', () => {
  const { batch, written } = uploaded(2, true)
  expect([batch.tokens(0, 2), batch.tokens(2, 2)]).toEqual([1 + 4 + 2 + 1, 3 + 3 + 1 + 2])
  expect([...(written.get('batch.cu_seqlens') ?? [])]).toEqual([0, 5, 8, 0, 6, 9])
  const mask = written.get('batch.attention_mask') ?? []
  expect(Array.from(mask).join('')).toBe('1111111100000011111111100000')
  // Slots count from the micro-batch's first row.
  const scored = written.get('batch.scored') as Uint32Array
  expect([...scored.subarray(2 * R * 4, 2 * R * 4 + 2)]).toEqual([2, 0])
})

test('with padding every column counts', () => {
  const { batch, written } = uploaded(4, false)
  expect(batch.tokens(0, 4)).toBe(4 * (P + R))
  expect(written.get('batch.input_ids')).toEqual(BATCH.input_ids)
})

test('a batch that was cut otherwise is refused', () => {
  const { batch } = uploaded(2, true)
  expect(() => batch.tokens(0, 4)).toThrow(/rows 0 to 4.*2 rows that were uploaded/)
  expect(() => batch.tokens(4, 2)).toThrow(RangeError)
  expect(() => uploaded(3, true)).toThrow(/4 rows do not divide into micro-batches of 3/)
})
