// Tests what parts add to a logit and what heads look at against the float64 model.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import {
  attributionRef,
  meanUnembedding,
  probsOf,
  unembeddingOf,
} from '../../../model/interventions/attribution.ref.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import { CONFIGS, testWeights } from '../../../model/testing.ts'
import { forwardRef } from '../../../model/transformer/transformer.ref.ts'
import { attribution, requireMaps } from './attribution.ts'

const ids = [4, 1, 6, 3, 2, 5]
const n = ids.length

test.for(CONFIGS.map((config) => [config.model_type, config] as const))(
  'parts add up to the logit as in float64, and heads look where they do: %s',
  async ([, config]) => {
    const { flat: weights, exact } = testWeights(config, 3)
    const layout = paramLayout(modelShape(config))
    const gpu = await Gpu.open()
    const found = await attribution(gpu, { layout, weights }, ids)
    gpu.destroy()
    const cache = forwardRef(config, exact, {
      rows: 1,
      width: n,
      input_ids: Uint32Array.from(ids),
      attention_mask: new Uint32Array(n).fill(1),
      position_ids: Uint32Array.from(ids.keys()),
    })
    const mean = meanUnembedding(config, exact)
    const truth = attributionRef(config, exact, cache, (m) =>
      unembeddingOf(config, exact, ids[m + 1] ?? 0).map((u, c) => u - mean[c]),
    )
    const expectNear = (own: ArrayLike<number>, exactly: Float64Array, digits = 3) => {
      for (let i = 0; i < own.length; i++) expect(own[i]).toBeCloseTo(exactly[i], digits)
    }
    expect(found.total).toHaveLength(n - 1)
    expectNear(found.total, truth.total)
    expectNear(found.embed, truth.embed)
    for (let l = 0; l < config.num_hidden_layers; l++) {
      expectNear(found.attention[l], truth.attn[l])
      expectNear(found.feed_forward[l], truth.ffn[l])
      for (let h = 0; h < config.num_attention_heads; h++) {
        expectNear(found.head[l][h], truth.head[l][h])
        expectNear(found.looksAt[l][h], probsOf(config, cache.blocks[l], n, 0, h), 4)
      }
    }
    for (let s = 0; s < n - 1; s++) {
      const parts = [...found.attention, ...found.feed_forward].reduce((a, x) => a + x[s], 0)
      expect(found.embed[s] + parts).toBeCloseTo(found.total[s], 3)
    }
  },
)

test('a text is refused that is too short, or whose maps are too large', async () => {
  const layout = paramLayout(modelShape(CONFIGS[0]))
  const gpu = await Gpu.open()
  const model = { layout, weights: new Float32Array(layout.size) }
  await expect(attribution(gpu, model, [1])).rejects.toThrow('at least 2 tokens, got 1')
  gpu.destroy()
  const many = { ...layout.shape, num_hidden_layers: 30, num_attention_heads: 9 }
  expect(() => requireMaps(many, 1000)).toThrow(
    '270 heads over 1000 tokens take 1080 MB; expected at most 64 MB',
  )
})
