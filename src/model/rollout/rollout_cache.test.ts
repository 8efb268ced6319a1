import { expect, test } from 'vitest'
import { type ModelConfig, modelShape } from '../layout/config.ts'
import { TINY } from '../testing.ts'
import { groupRows } from './rollout_cache.ts'

/** Qwen3-0.6B's sizes. */
const LARGE: ModelConfig = {
  ...TINY,
  vocab_size: 151_936,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
}
const shape = modelShape(LARGE)
const size = { rows: 256, n: 8, prompt_length: 64, response_length: 64 }

/** Caches of all blocks and the logits, in MiB: 224 KiB a token and 594 KiB a row in float32. */
const mebibytes = (rows: number) => ((64 * rows) / 8 + 63 * rows) * 0.21875 + rows * 0.58

test('a small model decodes all rows at once', () => {
  expect(groupRows(modelShape(TINY), size)).toBe(256)
})

test('a large one decodes as many whole prompts as fit, and twice as many from halves', () => {
  expect(groupRows(shape, size)).toBe(16)
  expect(mebibytes(16)).toBeLessThan(512)
  expect(mebibytes(32)).toBeGreaterThan(512)
  expect(groupRows(shape, { ...size, dtype: 'float16' })).toBe(32)
})

test('one prompt is the least, however long, and rows that write in turns stay together', () => {
  expect(groupRows(shape, { ...size, response_length: 1024 })).toBe(8)
  expect(groupRows(shape, { ...size, max_turns: 2 })).toBe(256)
})
