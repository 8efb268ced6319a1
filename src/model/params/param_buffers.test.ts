import { describe, expect, test } from 'vitest'
import { MemoryPlan, sizeOf } from '../../kernels/device/base/tensor.ts'
import { modelShape } from '../layout/config.ts'
import { segmentStart } from '../layout/flat_params.ts'
import { paramLayout } from '../layout/params.ts'
import { CONFIGS, TINY } from '../testing.ts'
import { createParamBuffers, overlaid, type ParamBuffers, within } from './param_buffers.ts'
import { paramGradients, paramTensors } from './param_tensors.ts'

const UNTIED = { ...TINY, vocab_size: 300, tie_word_embeddings: false }
const layout = paramLayout(modelShape(UNTIED))
const create = (segmentBytes?: number, stored?: Parameters<typeof createParamBuffers>[4]) => {
  const plan = new MemoryPlan(segmentBytes)
  return { plan, buffers: createParamBuffers(plan, layout, 'weights', 'weights', stored) }
}
/** Which elements stretches hold, as [start, end). */
const held = ({ stretches }: ParamBuffers) =>
  stretches.map(({ start, tensor }) => [start, start + sizeOf(tensor.shape)])

describe('buffers', () => {
  test('a small model has one, in the order of its layout', () => {
    const { plan, buffers } = create()
    expect(held(buffers)).toEqual([[0, layout.size]])
    expect(buffers.stretches[0].tensor.label).toBe('weights')
    expect(plan.bytes.weights).toBe(4 * layout.size)
  })

  test.each([64 * 1024, 20_480, 10_240])(
    'none is above %i bytes, and together they hold every element once',
    (most) => {
      const { plan, buffers } = create(most)
      expect(plan.largest.bytes).toBeLessThanOrEqual(most)
      expect(plan.bytes.weights).toBe(4 * layout.size)
      expect(buffers.stretches.length).toBeGreaterThan(1)
      let end = 0
      for (const [start, next] of held(buffers)) {
        expect([start, start % 64]).toEqual([end, 0])
        end = next
      }
      expect(end).toBe(layout.size)
    },
  )

  test('an embedding is cut between rows, a block between its matrices', () => {
    const { plan, buffers } = create(10_240)
    const { embed_tokens, lm_head, layers } = paramTensors(plan, layout, buffers)
    for (const ranges of [embed_tokens, lm_head]) {
      expect(ranges.map(({ first }) => first)).toEqual([0, 128, 256])
      expect(ranges.map(({ tensor }) => tensor.shape)).toEqual([
        [128, 20],
        [128, 20],
        [44, 20],
      ])
    }
    expect(layers[2].gate_up_proj.shape).toEqual([56, 20])
    // qkv_proj takes 5,120 bytes, which nothing can cut.
    const small = create(2_560)
    expect(paramTensors(small.plan, layout, small.buffers).layers[0].qkv_proj.shape).toEqual([
      64, 20,
    ])
    expect(small.plan.largest.bytes).toBe(5_120)
  })

  test('what is not stored takes no memory and has no gradients', () => {
    const trained = layout.first_block + 1
    const { plan, buffers } = create(undefined, (segment) =>
      segment === trained ? 'f32' : undefined,
    )
    const [start, end] = [segmentStart(layout, trained), layout.segment_ends[trained]]
    expect(held(buffers)).toEqual([[start, end]])
    expect(plan.bytes.weights).toBe(4 * (end - start))
    const { embed_tokens, lm_head, norm, layers } = paramGradients(plan, layout, buffers)
    expect([embed_tokens, lm_head, norm, layers[0], layers[2]]).toEqual(Array(5).fill(undefined))
    expect(layers[1]?.down_proj.shape).toEqual([20, 28])
    expect(() => paramTensors(plan, layout, buffers)).toThrow(/expected every parameter/)
  })

  test('an overlay takes what the upper one has, and the rest from below', () => {
    const upper = create(undefined, (segment) => (segment === 3 ? 'f32' : undefined)).buffers
    const { plan, buffers: lower } = create(20_480)
    const both = overlaid(plan, upper, lower)
    const [start, end] = [segmentStart(layout, 3), layout.segment_ends[3]]
    let next = 0
    for (const [from, to] of held(both)) {
      expect(from).toBe(next)
      next = to
    }
    expect(next).toBe(layout.size)
    expect(within(both, start, end).map(({ stretch }) => stretch)).toEqual(upper.stretches)
  })
})

describe('bfloat16', () => {
  test('an embedding has the same ranges of rows as in f32', () => {
    for (const most of [10_240, 4096]) {
      const [exact, packed] = (['f32', 'bfloat16'] as const).map((dtype) => {
        const { plan, buffers } = create(most, () => dtype)
        const { embed_tokens, lm_head } = paramTensors(plan, layout, buffers)
        return [...embed_tokens, ...lm_head].map(({ first, tensor }) => [first, ...tensor.shape])
      })
      expect(packed).toEqual(exact)
    }
  })

  test.each(CONFIGS)(
    '$model_type: matrices take two bytes a value, norms and biases four',
    (config) => {
      const own = paramLayout(modelShape(config))
      for (const most of [undefined, 4096]) {
        const plan = new MemoryPlan(most)
        const buffers = createParamBuffers(plan, own, 'weights', 'weights', () => 'bfloat16')
        const { embed_tokens, norm, layers } = paramTensors(plan, own, buffers)
        for (const { tensor } of embed_tokens) {
          expect(tensor.dtype).toBe('bfloat16')
          expect((tensor.offset * 2) % 256).toBe(0)
        }
        for (const { qkv_proj, o_proj, gate_up_proj, down_proj, input_layernorm } of layers) {
          for (const matrix of [qkv_proj, o_proj, gate_up_proj, down_proj])
            expect([matrix.dtype, (matrix.offset * 2) % 256]).toEqual(['bfloat16', 0])
          expect(input_layernorm.dtype).toBe('f32')
        }
        expect(norm.dtype).toBe('f32')
        // Half, and what aligning every tensor takes.
        expect(plan.bytes.weights / (4 * own.size)).toBeLessThan(0.75)
      }
    },
  )
})
