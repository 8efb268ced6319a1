import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { embedding_backward_ref, embedding_forward_ref } from './embedding.ref.ts'
import {
  embedding_backward,
  embedding_backward_narrow,
  embedding_forward,
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
    const params = { tokens, hidden_size, vocab_size, padding_idx }
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
      { tokens: 5, hidden_size: 1, vocab_size: 2, padding_idx: NO_PADDING },
      { input_ids, d_out, d_weight },
    )
    expect([...(await gpu.read(d_weight))[0]]).toEqual([21, 10])
  })
})
