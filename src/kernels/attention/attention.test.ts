import { describe, expect, test } from 'vitest'

import { expectClose, randomValues } from '../testing.ts'
import {
  type AttentionSizes,
  attention_forward_ref,
  attentionBackwardRef,
} from './attention.ref.ts'
import { attention_forward, attentionKernels } from './attention.ts'

const oneHead = { num_attention_heads: 1, num_key_value_heads: 1, head_dim: 1, scale: 1 }

describe('attention_forward_ref', () => {
  test('matches numbers worked by hand', () => {
    // Tokens [q, k, v]: the second query scores its keys 0 and ln 3, so it weighs the values 1/4
    // and 3/4.
    const qkv = [5, 0, 8, 1, Math.log(3), 16]
    const { out, lse } = attention_forward_ref(qkv, [1, 1], { rows: 1, width: 2, ...oneHead })
    expectClose(out, [8, 14])
    expectClose(lse, [0, Math.log(4)])
  })

  test('a masked column is neither attended to nor answered', () => {
    const qkv = [1, 1, 8, 1, 1, 1000, 1, 1, 16]
    const { out, lse } = attention_forward_ref(qkv, [1, 0, 1], { rows: 1, width: 3, ...oneHead })
    expectClose(out, [8, 0, 12])
    expect(lse[1]).toBe(0)
  })

  test('query head h reads key/value head floor(h / group)', () => {
    // One column attends only itself, so out is the value of its key/value head.
    const sizes = { rows: 1, width: 1, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 1 }
    const { out } = attention_forward_ref([1, 1, 1, 1, 0, 0, 7, 9], [1], { ...sizes, scale: 1 })
    expect([...out]).toEqual([7, 7, 9, 9])
  })
})

test('rows of any length in one stream are each as if alone; tokens of no row stay zero', () => {
  const heads = { num_attention_heads: 4, num_key_value_heads: 2, head_dim: 3, scale: 0.7 }
  const [tokenSize, outSize] = [24, 12]
  // One token before the first row, an empty row, two tokens after the last.
  const cuSeqlens = [1, 4, 4, 5, 10]
  const mask = [1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1]
  const qkv = randomValues(12 * tokenSize, 1)
  const d_out = randomValues(12 * outSize, 2)
  const s = { rows: 4, width: 5, ...heads }
  const { out, lse } = attention_forward_ref(qkv, mask, s, cuSeqlens)
  const d_qkv = attentionBackwardRef(qkv, mask, d_out, s, cuSeqlens)
  for (let b = 0; b < 4; b++) {
    const [first, end] = [cuSeqlens[b], cuSeqlens[b + 1]]
    const of = <T extends { slice(from: number, to: number): T }>(x: T, size: number) =>
      x.slice(first * size, end * size)
    const row = of(qkv, tokenSize)
    const rowMask = mask.slice(first, end)
    const alone = { ...s, rows: 1, width: end - first }
    const forward = attention_forward_ref(row, rowMask, alone)
    expect(of(out, outSize)).toEqual(forward.out)
    expect(of(lse, 4)).toEqual(forward.lse)
    const dRow = attentionBackwardRef(row, rowMask, of(d_out, outSize), alone)
    expect(of(d_qkv, tokenSize)).toEqual(dRow)
  }
  for (const token of [0, 10, 11]) {
    expect(out.slice(token * outSize, (token + 1) * outSize)).toEqual(new Float64Array(outSize))
    expect(lse.slice(token * 4, (token + 1) * 4)).toEqual(new Float64Array(4))
    const dToken = d_qkv.slice(token * tokenSize, (token + 1) * tokenSize)
    expect(dToken).toEqual(new Float64Array(tokenSize))
  }
})

test('attention_backward_ref is the slope of the forward, by central differences', () => {
  const sizes: AttentionSizes = {
    rows: 2,
    width: 4,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 3,
    scale: 0.7,
  }
  const mask = [0, 1, 1, 1, 1, 0, 1, 1]
  const qkv = Float64Array.from(randomValues(2 * 4 * 8 * 3, 1))
  const d_out = randomValues(2 * 4 * 4 * 3, 2)
  const loss = () =>
    attention_forward_ref(qkv, mask, sizes).out.reduce((sum, x, i) => sum + x * d_out[i], 0)
  const step = 1e-5
  const slopes = qkv.map((x, i) => {
    qkv[i] = x + step
    const above = loss()
    qkv[i] = x - step
    const below = loss()
    qkv[i] = x
    return (above - below) / (2 * step)
  })
  const actual = attentionBackwardRef(qkv, mask, d_out, sizes)
  expectClose(actual, slopes, { atol: 1e-8, rtol: 1e-7 })
  expect(Math.max(...actual.map(Math.abs))).toBeGreaterThan(0.1)
})

test('short rows of small heads take the narrow kernels, all others the tiled ones', () => {
  const forwardAt = (width: number, head_dim: number) =>
    attentionKernels({ width, head_dim }).forward
  expect(forwardAt(512, 32).name).toBe('attention_forward_narrow_32')
  expect(forwardAt(10, 16)).toBe(forwardAt(20, 16))
  for (const [width, head_dim] of [
    [513, 64],
    [128, 64],
    [8, 68],
  ])
    expect(forwardAt(width, head_dim).name).toBe('attention_forward_quads_4')
  expect(forwardAt(513, 20).name).toBe('attention_forward_quads_2')
  expect(forwardAt(8, 18)).toBe(attention_forward)
  // Four vectors of a large head would not fit the registers of a GPU.
  const keyValueAt = (head_dim: number) => attentionKernels({ width: 8, head_dim }).backwardKeyValue
  expect(keyValueAt(32).name).toBe('attention_backward_key_value_narrow_32')
  expect(keyValueAt(32).onGpu?.name).toBe('attention_backward_key_value_quads_2')
  expect(keyValueAt(16).onGpu).toBeUndefined()
  const without = { width: 8, head_dim: 16, narrowKernels: false }
  expect(attentionKernels(without)).toBe(attentionKernels({ width: 513, head_dim: 16 }))
})
