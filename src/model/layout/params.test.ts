import { describe, expect, test } from 'vitest'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { VECTOR_CHUNK } from '../../kernels/optimizer/control.ts'
import { createParamBuffers } from '../params/param_buffers.ts'
import { paramTensors } from '../params/param_tensors.ts'
import { CONFIGS, packWeights, TINY } from '../testing.ts'
import { modelShape } from './config.ts'
import { CHUNK, chunkSegments, trainedPrefix } from './flat_params.ts'
import { initialWeights, paramLayout, sharedRuns, unpackWeights } from './params.ts'

const UNTIED = { ...TINY, tie_word_embeddings: false }
const names = (head: Parameters<typeof paramLayout>[1], config = UNTIED) =>
  paramLayout(modelShape(config), head).params.map(({ name }) => name)

describe('heads', () => {
  test('a value head adds score and bias, a reward head a score; both have no vocabulary head', () => {
    const policy = names('lm_head')
    const transformer = policy.filter((name) => name !== 'lm_head.weight')
    expect(policy).toHaveLength(transformer.length + 1)
    expect(names('value_head')).toEqual([...transformer, 'score.weight', 'score.bias'])
    expect(names('reward_head')).toEqual([...transformer, 'score.weight'])
  })

  test('the score starts as Hugging Face starts it: std 0.02, bias 0', () => {
    const layout = paramLayout(modelShape({ ...TINY, hidden_size: 400 }), 'value_head')
    const named = unpackWeights(layout, initialWeights(layout, 3))
    const score = named['score.weight']
    const std = Math.hypot(...score) / Math.sqrt(score.length)
    expect(std).toBeGreaterThan(0.017)
    expect(std).toBeLessThan(0.023)
    expect([...named['score.bias']]).toEqual([0])
  })

  test('the score lies in the last segment, in chunks of its own, and is trained with the last layer only', () => {
    const layout = paramLayout(modelShape(UNTIED), 'value_head')
    const { norm, score, score_bias } = layout.slices
    const L = TINY.num_hidden_layers
    const segments = chunkSegments(layout)
    for (const slice of [norm, score, score_bias]) {
      expect(slice && slice.offset % CHUNK).toBe(0)
      expect(slice && segments[slice.offset / CHUNK] % VECTOR_CHUNK).toBe(L + 1)
    }
    const isVector = [norm, score, score_bias].map(
      (slice) => slice && segments[slice.offset / CHUNK] >= VECTOR_CHUNK,
    )
    expect(isVector).toEqual([true, false, true])
    expect(score?.shape).toEqual([1, TINY.hidden_size])
    expect(score_bias?.shape).toEqual([1])
    expect(trainedPrefix(layout, L).count).toBe(layout.size)
    expect(trainedPrefix(layout, L - 1).count).toBe(layout.segment_ends[L - 1])
  })

  test('only a head that is there has tensors, and no vocabulary head means the embedding', () => {
    const tensors = (head: Parameters<typeof paramLayout>[1]) => {
      const plan = new MemoryPlan()
      const layout = paramLayout(modelShape(UNTIED), head)
      return paramTensors(plan, layout, createParamBuffers(plan, layout, 'weights', 'weights'))
    }
    expect(tensors('lm_head').score).toBeUndefined()
    expect(tensors('value_head').score_bias?.shape).toEqual([1])
    expect(tensors('reward_head').score?.shape).toEqual([1, TINY.hidden_size])
    expect(tensors('reward_head').score_bias).toBeUndefined()
    const { lm_head, embed_tokens } = tensors('reward_head')
    expect(lm_head).toBe(embed_tokens)
  })
})

describe('sharedRuns', () => {
  test.for(
    CONFIGS.flatMap((config) => [
      [config.model_type, 'value_head', config] as const,
      [config.model_type, 'reward_head', config] as const,
    ]),
  )('%s to a %s: every parameter of the transformer, and no other', ([, head, config]) => {
    const shape = modelShape(config)
    const [from, to] = [paramLayout(shape), paramLayout(shape, head)]
    // Each element knows its name: source and target must agree on all but the heads.
    const source = packWeights(
      from,
      Object.fromEntries(
        from.params.map(({ name, size }, p) => [
          name,
          Float32Array.from({ length: size }, (_, i) => 1 + p + i / 1024),
        ]),
      ),
    )
    const flat = new Float32Array(to.size)
    for (const { fromOffset, toOffset, count } of sharedRuns(from, to))
      flat.set(source.subarray(fromOffset, fromOffset + count), toOffset)
    const [before, after] = [unpackWeights(from, source), unpackWeights(to, flat)]
    for (const { name } of to.params)
      if (name.startsWith('score')) expect(after[name].every((x) => x === 0)).toBe(true)
      else expect(after[name], name).toEqual(before[name])
  })

  test('transformers of different sizes are refused', () => {
    const layout = paramLayout(modelShape(TINY))
    const other = paramLayout(modelShape({ ...TINY, intermediate_size: 29 * 4 }), 'value_head')
    expect(() => sharedRuns(layout, other)).toThrow(RangeError)
    const vocabulary = paramLayout(modelShape({ ...TINY, vocab_size: 999 }), 'value_head')
    expect(() => sharedRuns(layout, vocabulary)).toThrow(/same size/)
  })
})
