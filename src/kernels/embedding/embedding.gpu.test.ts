import { describe, expect, test } from 'vitest'

import { decodeBfloat16, encodeBfloat16 } from '../device/bfloat16.ts'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { embeddingBackwardRef, embeddingForwardRef } from './embedding.ref.ts'
import {
  embedding_backward,
  embedding_backward_narrow,
  embedding_forward,
  embeddingBackward,
  embeddingForward,
  NO_PADDING,
} from './embedding.ts'

const gpu = await Gpu.open()

describe('embedding', () => {
  // [tokens, vocabulary, channels]: one, a repeated id, all ids alike, one past a tile, several
  // channel blocks.
  test.for([
    [1, 1, 1],
    [7, 3, 5],
    [150, 1, 64],
    [65, 11, 65],
    [130, 200, 32], // ids that come back after more than a tile
    [5, 2, 515],
  ])('matches the reference at [%i, %i, %i]', async ([tokens, vocabSize, hidden_size]) => {
    const ids = Uint32Array.from(randomValues(tokens, tokens), (x) =>
      Math.floor(((x + 1) / 2) * vocabSize),
    )
    const weightValues = randomValues(vocabSize * hidden_size, 1)
    const dOutValues = randomValues(tokens * hidden_size, 2)
    // Where there are several ids, one of them is for padding.
    const padding_idx = vocabSize > 2 ? 1 : NO_PADDING
    const params = { tokens, hidden_size, first_id: 0, ids: vocabSize, padding_idx }
    const input_ids = gpu.tensor('input_ids', 'u32', [tokens], { data: ids })
    const shape = [vocabSize, hidden_size]
    const weight = gpu.tensor('weight', 'f32', shape, { data: weightValues })
    const out = gpu.tensor('out', 'f32', [tokens, hidden_size])
    await gpu.run(
      embedding_forward,
      { tokens, hidden_size, first_id: 0, ids: vocabSize },
      { input_ids, weight, out },
    )
    const [actual] = await gpu.read(out)
    expect([...actual]).toEqual([...embeddingForwardRef(ids, weightValues, hidden_size)])

    const d_out = gpu.tensor('d_out', 'f32', [tokens, hidden_size], { data: dOutValues })
    const expected = embeddingBackwardRef(ids, dOutValues, weightValues, hidden_size, padding_idx)
    const kernels =
      hidden_size % 4 === 0 ? [embedding_backward, embedding_backward_narrow] : [embedding_backward]
    for (const kernel of kernels) {
      // The gradient starts at the weights, so that adding differs from overwriting.
      gpu.write(weight, weightValues)
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
    const without = { vocab_size: 26, hidden_size: 64, narrowKernels: false }
    expect(embeddingBackward(without)).toBe(embedding_backward)
  })

  // 64 rows are a multiple of what a view may start at; both kernels of the backward.
  test.for([12, 6])('ranges of rows give the bits of the whole at %i channels', async (C) => {
    const [tokens, V, cut] = [90, 200, 128]
    const ids = Uint32Array.from(randomValues(tokens, 5), (x) => Math.floor(((x + 1) / 2) * V))
    const input_ids = gpu.tensor('input_ids', 'u32', [tokens], { data: ids })
    const weight = gpu.tensor('weight', 'f32', [V, C], { data: randomValues(V * C, 1) })
    const d_out = gpu.tensor('d_out', 'f32', [tokens, C], { data: randomValues(tokens * C, 2) })
    const kernels =
      C % 4 === 0 ? [embedding_backward, embedding_backward_narrow] : [embedding_backward]
    const results: Float32Array[][] = [[], []]
    for (const [i, ranges] of [
      [[0, V]],
      [
        [0, cut],
        [cut, V],
      ],
    ].entries()) {
      const out = gpu.tensor('out', 'f32', [tokens, C])
      const sums = kernels.map(() => gpu.tensor('d_weight', 'f32', [V, C]))
      for (const [first_id, end] of ranges) {
        const part = (whole: typeof weight) =>
          gpu.view(whole, 'part', first_id * C, [end - first_id, C])
        const size = { tokens, hidden_size: C, first_id, ids: end - first_id }
        await gpu.run(embedding_forward, size, { input_ids, weight: part(weight), out })
        for (const [k, kernel] of kernels.entries())
          await gpu.run(
            kernel,
            { ...size, padding_idx: 150 },
            { input_ids, d_out, d_weight: part(sums[k]) },
          )
      }
      results[i] = await gpu.read(out, ...sums)
    }
    expect(results[1]).toEqual(results[0])
  })

  test.for([
    [9, 40, 6],
    [33, 300, 20],
  ])(
    'bfloat16 at [%i, %i, %i] is the f32 forward of the decoded weight, to the bit',
    async ([tokens, V, C]) => {
      const bits = encodeBfloat16(randomValues(V * C, 3))
      const ids = Uint32Array.from(randomValues(tokens, 5), (x) => Math.floor(((x + 1) / 2) * V))
      const input_ids = gpu.tensor('input_ids', 'u32', [tokens], { data: ids })
      const [packed, decoded] = [
        gpu.tensor('weight', 'bfloat16', [V, C], { data: bits }),
        gpu.tensor('weight', 'f32', [V, C], { data: decodeBfloat16(bits) }),
      ]
      const found = []
      for (const weight of [packed, decoded]) {
        const out = gpu.tensor('out', 'f32', [tokens, C])
        const size = { tokens, hidden_size: C, first_id: 0, ids: V }
        await gpu.run(embeddingForward(weight), size, { input_ids, weight, out })
        found.push((await gpu.read(out))[0])
      }
      expect(found[0]).toEqual(found[1])
    },
  )

  test('a folded grid with an overhang adds every token once', async () => {
    const ids = Uint32Array.of(0, 1, 0, 1, 0)
    const input_ids = gpu.tensor('input_ids', 'u32', [5], { data: ids })
    const d_out = gpu.tensor('d_out', 'f32', [5, 1], { data: Float32Array.of(1, 2, 4, 8, 16) })
    const d_weight = gpu.tensor('d_weight', 'f32', [2, 1])
    const folded = { ...embedding_backward, workgroups: () => [4, 2] as const }
    await gpu.run(
      folded,
      { tokens: 5, hidden_size: 1, first_id: 0, ids: 2, padding_idx: NO_PADDING },
      { input_ids, d_out, d_weight },
    )
    expect([...(await gpu.read(d_weight))[0]]).toEqual([21, 10])
  })
})
