import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { embedding_backward_ref, embedding_forward_ref } from './embedding.ref.ts'
import {
  embedding_backward,
  embedding_backward_narrow,
  embedding_forward,
  embedding_range,
  embedding_range_bf16,
  embeddingBackward,
  NO_PADDING,
} from './embedding.ts'

const gpu = await Gpu.open()

describe('embedding', () => {
  // [tokens, vocabulary, channels]: one, a repeated id, all ids alike, one past a tile, several channel blocks.
  test.for([
    [1, 1, 1],
    [7, 3, 5],
    [150, 1, 64],
    [65, 11, 65],
    [130, 200, 32], // ids that come back after more than a tile
    [5, 2, 515],
  ])('matches the reference at [%i, %i, %i]', async ([tokens, vocab_size, hidden_size]) => {
    const ids = Uint32Array.from(randomValues(tokens, tokens), (x) =>
      Math.floor(((x + 1) / 2) * vocab_size),
    )
    const weight_values = randomValues(vocab_size * hidden_size, 1)
    const d_out_values = randomValues(tokens * hidden_size, 2)
    // Where there are several ids, one of them is for padding.
    const padding_idx = vocab_size > 2 ? 1 : NO_PADDING
    const params = { tokens, hidden_size, vocab_size, padding_idx, first_id: 0 }
    const input_ids = gpu.tensor('input_ids', 'u32', [tokens], { data: ids })
    const shape = [vocab_size, hidden_size]
    const weight = gpu.tensor('weight', 'f32', shape, { data: weight_values })
    const out = gpu.tensor('out', 'f32', [tokens, hidden_size])
    await gpu.run(embedding_forward, { tokens, hidden_size }, { input_ids, weight, out })
    const [actual] = await gpu.read(out)
    expect([...actual]).toEqual([...embedding_forward_ref(ids, weight_values, hidden_size)])

    const d_out = gpu.tensor('d_out', 'f32', [tokens, hidden_size], { data: d_out_values })
    const expected = embedding_backward_ref(
      ids,
      d_out_values,
      weight_values,
      hidden_size,
      padding_idx,
    )
    const kernels =
      hidden_size % 4 === 0 ? [embedding_backward, embedding_backward_narrow] : [embedding_backward]
    for (const kernel of kernels) {
      // The gradient starts at the weights, so that adding differs from overwriting.
      gpu.write(weight, weight_values)
      await gpu.run(kernel, params, { input_ids, d_out, d_weight: weight })
      const [gradient] = await gpu.read(weight)
      // 150 values of size one added in f32.
      expectClose(gradient, expected, { atol: 1e-5, rtol: 1e-5 })
    }
  })

  test.for([64, 63])(
    'ranges of the vocabulary together do what the whole does, %i channels',
    async (C) => {
      const [tokens, V] = [130, 200]
      const ids = Uint32Array.from(randomValues(tokens, 5), (x) => Math.floor(((x + 1) / 2) * V))
      const input_ids = gpu.tensor('input_ids', 'u32', [tokens], { data: ids })
      const values = randomValues(V * C, 6)
      const halves = Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16)
      const decoded = new Float32Array(Uint32Array.from(halves, (bits) => bits << 16).buffer)
      const d_values = randomValues(tokens * C, 7)
      const d_out = gpu.tensor('d_out', 'f32', [tokens, C], { data: d_values })
      const out = gpu.tensor('out', 'f32', [tokens, C])
      const of_halves = gpu.tensor('of_halves', 'f32', [tokens, C])
      const gradient: number[] = []
      for (const [first_id, end] of [
        [0, 64],
        [64, 66],
        [66, V],
      ]) {
        const rows = end - first_id
        const [from, to] = [first_id * C, end * C]
        const weight = gpu.tensor('range', 'f32', [rows, C], { data: values.slice(from, to) })
        const data = new Uint32Array(halves.slice(from, to).buffer)
        const packed = gpu.tensor('packed', 'u32', [data.length], { data })
        const size = { tokens, hidden_size: C, first_id, rows }
        await gpu.run(embedding_range, size, { input_ids, weight, out })
        const half = { input_ids, weight: packed, out: of_halves }
        await gpu.run(embedding_range_bf16, size, half)
        const d_weight = gpu.tensor('d_weight', 'f32', [rows, C])
        const params = { ...size, vocab_size: rows, padding_idx: 65 }
        await gpu.run(embeddingBackward({ vocab_size: V, hidden_size: C }), params, {
          ...{ input_ids, d_out, d_weight },
        })
        gradient.push(...(await gpu.read(d_weight))[0])
      }
      const [actual, actual_halves] = await gpu.read(out, of_halves)
      expect([...actual]).toEqual([...embedding_forward_ref(ids, values, C)])
      expect([...actual_halves]).toEqual([...embedding_forward_ref(ids, decoded, C)])
      const expected = embedding_backward_ref(ids, d_values, new Float32Array(V * C), C, 65)
      expectClose(gradient, expected, { atol: 1e-5, rtol: 1e-5 })
    },
  )

  test('small vocabularies take the kernel that looks at every id', () => {
    expect(embeddingBackward({ vocab_size: 26, hidden_size: 64 })).toBe(embedding_backward_narrow)
    expect(embeddingBackward({ vocab_size: 26, hidden_size: 6 })).toBe(embedding_backward)
    expect(embeddingBackward({ vocab_size: 49152, hidden_size: 576 })).toBe(embedding_backward)
  })

  test('a folded grid with an overhang adds every token once', async () => {
    const ids = Uint32Array.of(0, 1, 0, 1, 0)
    const input_ids = gpu.tensor('input_ids', 'u32', [5], { data: ids })
    const d_out = gpu.tensor('d_out', 'f32', [5, 1], { data: Float32Array.of(1, 2, 4, 8, 16) })
    const d_weight = gpu.tensor('d_weight', 'f32', [2, 1])
    const folded = { ...embedding_backward, workgroups: () => [4, 2] as const }
    await gpu.run(
      folded,
      { tokens: 5, hidden_size: 1, vocab_size: 2, padding_idx: NO_PADDING, first_id: 0 },
      { input_ids, d_out, d_weight },
    )
    expect([...(await gpu.read(d_weight))[0]]).toEqual([21, 10])
  })
})
