import { describe, expect, test } from 'vitest'
import { VECTOR_CHUNK } from '../../kernels/optimizer/control.ts'
import { modelShape } from '../../model/layout/config.ts'
import { chunkSegments, trainedPrefix } from '../../model/layout/flat_params.ts'
import { paramLayout } from '../../model/layout/params.ts'
import { TINY } from '../../model/testing.ts'
import { frozenRuns, segmentFactors } from './trained_segments.ts'

const L = TINY.num_hidden_layers
const TIED = paramLayout(modelShape(TINY))
const UNTIED = paramLayout(modelShape({ ...TINY, tie_word_embeddings: false }))
const ALL = { target_layer: L }

describe('segmentFactors', () => {
  test('nothing asked for: the policy’s whole prefix at one rate', () => {
    for (const layout of [TIED, UNTIED])
      for (const target_layer of [1, 2, L])
        expect(segmentFactors(layout, { target_layer })).toBeUndefined()
    const nothing = { freeze: { embed_tokens: false, layers: [] } }
    const oneRate = { lr_factor_above: { layer: 1, factor: 1 } }
    expect(segmentFactors(TIED, { ...ALL, ...nothing, ...oneRate })).toBeUndefined()
    // The last layer's policy has the norm whatever is asked for; blocks above the target are not
    // trained anyway.
    expect(segmentFactors(TIED, { ...ALL, target_readout: 'normed' })).toBeUndefined()
    const above = { freeze: { embed_tokens: false, layers: [2, 3] } }
    expect(segmentFactors(TIED, { target_layer: 1, ...above })).toBeUndefined()
  })

  test('an inner policy that is read through the final norm trains that norm, and not what lies between', () => {
    const inner = { target_layer: 1, target_readout: 'normed' } as const
    expect(segmentFactors(TIED, inner)).toEqual([1, 1, 0, 0, 1])
    expect(segmentFactors(UNTIED, inner)).toEqual([1, 1, 1, 0, 0, 1])
  })

  test('what is frozen has the factor 0; a head of its own is not the embedding', () => {
    const freeze = { embed_tokens: true, layers: [2] }
    expect(segmentFactors(TIED, { ...ALL, freeze })).toEqual([0, 1, 0, 1, 1])
    expect(segmentFactors(UNTIED, { ...ALL, freeze })).toEqual([0, 1, 1, 0, 1, 1])
  })

  test('a rate above a layer is that of the blocks above it and of the final norm', () => {
    const slow = { lr_factor_above: { layer: 1, factor: 0.1 } }
    expect(segmentFactors(TIED, { ...ALL, ...slow })).toEqual([1, 1, 0.1, 0.1, 0.1])
    expect(segmentFactors(UNTIED, { ...ALL, ...slow })).toEqual([1, 1, 1, 0.1, 0.1, 0.1])
    const none = { lr_factor_above: { layer: 0, factor: 0 } }
    expect(segmentFactors(TIED, { ...ALL, ...none })).toEqual([1, 0, 0, 0, 0])
    const inner = { target_layer: 2, lr_factor_above: { layer: 1, factor: 0.5 } }
    expect(segmentFactors(TIED, inner)).toEqual([1, 1, 0.5, 0, 0])
  })
})

describe('as BuPO’s fork of verl trains an inner layer', () => {
  const bonus = {
    entropy_coeff: 0.1,
    entropy_of: 'final',
    use_adaptive_entropy: false,
  } as const
  test('the final norm with a gradient of zero is trained beside the prefix', () => {
    const zero = { decay_final_norm: true }
    expect(segmentFactors(TIED, { target_layer: 1, ...zero })).toEqual([1, 1, 0, 0, 1])
    expect(segmentFactors(TIED, { ...ALL, ...zero })).toBeUndefined()
  })
  test('a bonus for the whole model’s entropy trains everything, but what is frozen', () => {
    const inner = { target_layer: 1, actor: bonus }
    expect(segmentFactors(TIED, inner)).toEqual([1, 1, 1, 1, 1])
    const freeze = { embed_tokens: false, layers: [2] }
    expect(segmentFactors(TIED, { ...inner, freeze })).toEqual([1, 1, 0, 1, 1])
    expect(segmentFactors(TIED, { ...ALL, actor: bonus })).toBeUndefined()
    const none = { ...inner, actor: { ...bonus, entropy_coeff: 0 } }
    expect(segmentFactors(TIED, none)).toBeUndefined()
    const targeted = { ...none, actor: { ...none.actor, use_adaptive_entropy: true } }
    expect(segmentFactors(TIED, targeted)).toEqual([1, 1, 1, 1, 1])
  })
})

test('frozen runs are the elements of frozen segments, neighbours joined', () => {
  const factors = [1, 0, 0, 1, 0]
  const segments = chunkSegments(TIED)
  const frozen = new Set<number>()
  const runs = frozenRuns(TIED, factors)
  for (const { offset, count } of runs) for (let i = offset; i < offset + count; i++) frozen.add(i)
  expect(runs).toHaveLength(2)
  for (let i = 0; i < TIED.size; i++)
    expect(frozen.has(i)).toBe(factors[segments[Math.floor(i / 64)] % VECTOR_CHUNK] === 0)
})

test('an untied head is a segment of its own that every policy trains', () => {
  const { slices, segment_ends } = UNTIED
  const segments = chunkSegments(UNTIED)
  expect(segments[slices.embed_tokens.offset / 64]).toBe(0)
  expect(segments[slices.lm_head.offset / 64]).toBe(1)
  expect(segments[slices.layers[0].input_layernorm.offset / 64] % VECTOR_CHUNK).toBe(2)
  expect(trainedPrefix(UNTIED, 1)).toEqual({ count: segment_ends[2], segments: 3 })
  expect(trainedPrefix(UNTIED, L)).toEqual({ count: UNTIED.size, segments: L + 3 })
  expect(trainedPrefix(TIED, L)).toEqual({ count: TIED.size, segments: L + 2 })
})
