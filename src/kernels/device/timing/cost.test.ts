import { expect, test } from 'vitest'
import { attention_decode, attention_forward } from '../../attention/attention.ts'
import { embedding_backward } from '../../embedding/embedding.ts'
import { matmul_nt, matmul_nt_add } from '../../matmul/matmul.ts'
import { adamw_update } from '../../optimizer/optimizer.ts'
import { rms_norm_forward } from '../../rms_norm/rms_norm.ts'
import { vocab_head_backward_weight, vocabHeadKernels } from '../../vocab_head/vocab_head.ts'
import type { AnyKernel } from '../base/kernel.ts'
import { costOf } from './cost.ts'

const cost = (kernel: unknown, params: Record<string, number>) =>
  costOf(kernel as AnyKernel, params)

test('products: two operations per multiply-add, every matrix once', () => {
  // [2, 3] × [3, 5]: 30 multiply-adds; 6 + 15 read, 10 written.
  const shape = { m: 2, n: 5, k: 3 }
  expect(cost(matmul_nt, { ...shape, accumulate: 0 })).toEqual({ flops: 60, bytes: 4 * 31 })
  expect(cost(matmul_nt, { ...shape, accumulate: 1 })).toEqual({ flops: 60, bytes: 4 * 41 })
  const bias = cost(matmul_nt_add, { ...shape, addend_stride: 0 })
  expect(bias).toEqual({ flops: 70, bytes: 4 * 36 })
  const residual = cost(matmul_nt_add, { ...shape, addend_stride: 5 })
  expect(residual).toEqual({ flops: 70, bytes: 4 * 41 })
})

test('attention: only the causal half counts, and every variant of a family counts alike', () => {
  const heads = { num_attention_heads: 2, num_key_value_heads: 1, head_dim: 4 }
  const shape = { rows: 3, width: 5, ...heads, scale: 1 }
  // 3 rows × 2 heads × 15 pairs, each 4 multiply-adds for the score and 4 for the sum.
  const flops = 90 * 16
  // qkv 15 × 16, out 15 × 8, lse 15 × 2, mask 15.
  const expected = { flops, bytes: 4 * (240 + 120 + 30 + 15) }
  expect(cost(attention_forward, shape)).toEqual(expected)
  expect(cost({ name: 'attention_forward_narrow_4' }, shape)).toEqual(expected)
  // Column 6 of rows with 4 prompt columns, two rows to a prompt: 2 prompts of 4 tokens, 4 rows of
  // 3 more.
  const decode = { ...shape, rows: 4, n: 2, prompt_length: 4, response_columns: 5, column: 6 }
  expect(cost(attention_decode, decode)).toEqual({
    flops: 4 * 2 * 7 * 16,
    bytes: 4 * (2 * 4 * 8 + (8 + 12) * 8 + 4 * 7),
  })
})

test('norm, head, embedding and optimizer against hand counts', () => {
  expect(cost(rms_norm_forward, { rows: 2, cols: 3, eps: 1e-6 })).toEqual({
    flops: 24,
    bytes: 4 * (12 + 3 + 2),
  })
  const head = { tokens: 6, inv_temperature: 1 }
  const size = { hidden_size: 4, vocab_size: 7 }
  const forward = vocabHeadKernels(size).forward
  expect(forward.name).toContain('narrow')
  // 6 tokens × 28 multiply-adds; weight 28, states 24, entries and four results 48.
  expect(cost(forward, { ...head, ...size })).toEqual({ flops: 336, bytes: 4 * (28 + 24 + 48) })
  expect(cost(vocab_head_backward_weight, { ...head, ...size, splits: 2 })).toEqual({
    flops: 672,
    bytes: 4 * (28 + 24 + 48 + 56),
  })
  expect(
    cost(embedding_backward, { tokens: 5, hidden_size: 4, first_id: 0, ids: 3, padding_idx: 0 }),
  ).toEqual({
    flops: 20,
    bytes: 4 * (5 * 5 + 2 * 12),
  })
  expect(cost(adamw_update, { count: 10 })?.bytes).toBe(280)
})

test('a kernel without a cost, or with params its family does not know, has none', () => {
  expect(cost({ name: 'unheard_of' }, { rows: 1 })).toBeUndefined()
  expect(cost({ name: 'matmul_of_another_kind' }, { rows: 1 })).toBeUndefined()
})
