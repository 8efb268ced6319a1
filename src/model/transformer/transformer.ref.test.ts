import { describe, expect, test } from 'vitest'

import { expectClose, randomValues } from '../../kernels/testing.ts'
import type { ModelConfig } from '../layout/config.ts'
import { backwardRef } from './backward.ref.ts'
import type { RefArrays, RefBatch } from './operations.ref.ts'
import { policyRef, type RefResponse } from './policy.ref.ts'
import { forwardRef } from './transformer.ref.ts'

const L = 2
/** The sides of every matrix differ, so that swapped ones show. */
const base = {
  vocab_size: 7,
  hidden_size: 6,
  intermediate_size: 5,
  num_hidden_layers: L,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 2,
  rms_norm_eps: 1e-3,
  rope_theta: 10,
}
const CONFIGS: readonly ModelConfig[] = [
  { ...base, model_type: 'qwen3', tie_word_embeddings: true },
  { ...base, model_type: 'qwen2', tie_word_embeddings: false },
  { ...base, model_type: 'llama', tie_word_embeddings: true, head_dim: 4, num_key_value_heads: 1 },
]

/** Seeded parameters of the size of the config; norms around 1. */
function randomParams(config: ModelConfig): RefArrays {
  const { vocab_size: V, hidden_size: C, intermediate_size: F, head_dim: D } = config
  const qSize = config.num_attention_heads * D
  const kvSize = config.num_key_value_heads * D
  const params: RefArrays = {}
  const fill = (name: string, size: number, centre = 0) => {
    const values = randomValues(size, Object.keys(params).length + 1)
    params[name] = Float64Array.from(values, (x) => centre + 0.7 * x)
  }
  fill('model.embed_tokens.weight', V * C)
  if (!config.tie_word_embeddings) fill('lm_head.weight', V * C)
  for (let l = 0; l < config.num_hidden_layers; l++) {
    const at = `model.layers.${l}`
    for (const norm of ['input_layernorm', 'post_attention_layernorm'])
      fill(`${at}.${norm}.weight`, C, 1)
    for (const [name, size] of [
      ['q', qSize],
      ['k', kvSize],
      ['v', kvSize],
    ] as const) {
      fill(`${at}.self_attn.${name}_proj.weight`, size * C)
      if (config.model_type === 'qwen2') fill(`${at}.self_attn.${name}_proj.bias`, size)
      if (config.model_type === 'qwen3' && name !== 'v')
        fill(`${at}.self_attn.${name}_norm.weight`, D, 1)
    }
    fill(`${at}.self_attn.o_proj.weight`, C * qSize)
    for (const name of ['gate', 'up', 'down']) fill(`${at}.mlp.${name}_proj.weight`, F * C)
  }
  fill('model.norm.weight', C, 1)
  return params
}

const PROMPT = 3
const RESPONSE = 3
/** Three rows of up to 3 + 3 tokens, prompts padded on the left, responses on the right, by `extra`
 * more columns. */
function paddedBatch(extra = 0): RefBatch {
  const rows = [
    { prompt: [2, 3, 4], response: [5, 6, 1] },
    { prompt: [5], response: [3, 1] },
    { prompt: [4, 4], response: [1] },
  ]
  const pad = (count: number) => Array.from({ length: count }, () => 0)
  const columns = (row: (typeof rows)[number], of: (ids: number[]) => number[]) => [
    ...pad(extra + PROMPT - row.prompt.length),
    ...of([...row.prompt, ...row.response]),
    ...pad(RESPONSE - row.response.length + extra),
  ]
  return {
    input_ids: rows.flatMap((row) => columns(row, (ids) => ids)),
    attention_mask: rows.flatMap((row) => columns(row, (ids) => ids.map(() => 1))),
    position_ids: rows.flatMap((row) => columns(row, (ids) => ids.map((_, i) => i))),
    rows: rows.length,
    width: PROMPT + RESPONSE + 2 * extra,
  }
}
const scored = (extra = 0) => ({
  response_ids: [5, 6, 1, 3, 1, 0, 1, 0, 0],
  response_mask: [1, 1, 1, 1, 1, 0, 1, 0, 0],
  first_column: extra + PROMPT - 1,
  response_length: RESPONSE,
  temperature: 0.8,
})
const d_log_probs = Array.from(randomValues(9, 501))
const d_entropy = Array.from(randomValues(9, 502))

/** Σ d_log_probs · log_probs + d_entropy · entropy, whose gradient backwardRef promises. */
function objective(
  config: ModelConfig,
  params: RefArrays,
  layer: number,
  readout?: RefResponse['readout'],
): number {
  const cache = forwardRef(config, params, paddedBatch(), { layers: layer })
  const response = { ...scored(), readout }
  const { log_probs, entropy } = policyRef(config, params, cache, layer, response)
  return log_probs.reduce((sum, lp, i) => sum + d_log_probs[i] * lp + d_entropy[i] * entropy[i], 0)
}

function gradients(
  config: ModelConfig,
  params: RefArrays,
  layer: number,
  readout?: RefResponse['readout'],
): RefArrays {
  const cache = forwardRef(config, params, paddedBatch(), { layers: layer })
  const response = { ...scored(), d_log_probs, d_entropy, readout }
  return backwardRef(config, params, cache, layer, response)
}

/** Beside the identity, so that no direction of a state is lost. */
const translatorOf = ({ hidden_size: C }: ModelConfig) => ({
  matrix: Float64Array.from(
    randomValues(C * C, 77),
    (x, i) => (i % (C + 1) === 0 ? 1 : 0) + x / Math.sqrt(C),
  ),
  bias: Float64Array.from(randomValues(C, 78)),
})

describe.for(CONFIGS)('$model_type', (config) => {
  const params = randomParams(config)
  const read = (extra = 0) => {
    const cache = forwardRef(config, params, paddedBatch(extra))
    return policyRef(config, params, cache, L, scored(extra))
  }

  test.for([
    [0, 'raw'],
    [1, 'raw'],
    [1, 'normed'],
    [1, translatorOf(config)],
    [L, 'raw'],
  ] as const)(
    'the gradients of layer %i, %o, are finite differences of the forward',
    ([layer, readout]) => {
      const grads = gradients(config, params, layer, readout)
      for (const [name, grad] of Object.entries(grads)) {
        // A direction in which nothing cancels by accident: random, seeded by the parameter's
        // place.
        const direction = randomValues(grad.length, 900 + Object.keys(params).indexOf(name))
        const moved = (step: number) => ({
          ...params,
          [name]: params[name].map((x, i) => x + step * direction[i]),
        })
        // Five-point stencil: error of order step^4 = 1e-12, and rounding of 1e-15 / step.
        const step = 1e-3
        const at = (n: number) => objective(config, moved(n * step), layer, readout)
        const slope = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)
        const expected = grad.reduce((sum, g, i) => sum + g * direction[i], 0)
        expect(Math.abs(expected), `${name} has a gradient to compare`).toBeGreaterThan(1e-4)
        expect(Math.abs(slope - expected), name).toBeLessThan(1e-7 * (1 + Math.abs(expected)))
      }
    },
  )

  test('only what the policy of a layer reads has a gradient', () => {
    const names = (layer: number) => Object.keys(gradients(config, params, layer)).sort()
    const readBy = (layer: number) =>
      Object.keys(params).filter((name) => {
        const block = /layers\.(\d+)\./.exec(name)
        return block ? Number(block[1]) < layer : name !== 'model.norm.weight'
      })
    expect(names(L)).toEqual(Object.keys(params).sort())
    expect(names(1)).toEqual(readBy(1).sort())
    expect(names(0)).toEqual(readBy(0).sort())
    const normed = Object.keys(gradients(config, params, 1, 'normed')).sort()
    expect(normed).toEqual([...readBy(1), 'model.norm.weight'].sort())
  })

  test('through the final norm the length of an inner state does not count', () => {
    const cache = forwardRef(config, params, paddedBatch(), { layers: 1 })
    const hidden_states = cache.hidden_states.map((x) => x.map((value) => 3 * value))
    const longer = { ...cache, hidden_states }
    const exact = { ...config, rms_norm_eps: 0 }
    const of = (c: typeof cache, readout: 'raw' | 'normed') =>
      policyRef(exact, params, c, 1, { ...scored(), readout }).log_probs
    expectClose(of(longer, 'normed'), of(cache, 'normed'), { atol: 1e-12, rtol: 0 })
    expect(() => expectClose(of(longer, 'raw'), of(cache, 'raw'), { atol: 1e-3 })).toThrow()
    // The last layer is always read through it.
    const whole = forwardRef(config, params, paddedBatch())
    const last = (readout: 'raw' | 'normed') =>
      policyRef(config, params, whole, L, { ...scored(), readout }).log_probs
    expect(last('raw')).toEqual(last('normed'))
  })

  test('padding changes nothing, however much there is', () => {
    const [none, more] = [read(), read(3)]
    expectClose(more.log_probs, none.log_probs, { atol: 1e-12, rtol: 0 })
    expectClose(more.entropy, none.entropy, { atol: 1e-12, rtol: 0 })
    expect([5, 7, 8].map((i) => none.log_probs[i])).toEqual([0, 0, 0])
  })

  test('a token moves only what comes after it', () => {
    const batch = paddedBatch()
    const input_ids = Array.from(batch.input_ids)
    input_ids[4] = 2
    const states = forwardRef(config, params, batch).hidden_states[L]
    const changed = forwardRef(config, params, { ...batch, input_ids }).hidden_states[L]
    const C = config.hidden_size
    const moved = Array.from({ length: batch.rows * batch.width }, (_, m) => m).filter((m) =>
      states.subarray(m * C, (m + 1) * C).some((x, c) => x !== changed[m * C + c]),
    )
    expect(moved).toEqual([4, 5])
  })

  test('only differences of positions count', () => {
    const batch = paddedBatch()
    const later = { ...batch, position_ids: Array.from(batch.position_ids, (p) => p + 11) }
    const doubled = { ...batch, position_ids: Array.from(batch.position_ids, (p) => 2 * p) }
    const states = (b: RefBatch) => forwardRef(config, params, b).normed
    expectClose(states(later), states(batch), { atol: 1e-12, rtol: 0 })
    expect(() => expectClose(states(doubled), states(batch), { atol: 1e-3 })).toThrow()
  })

  test('a grouped key and value head serves consecutive query heads', () => {
    const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = config
    const full = { ...config, num_key_value_heads: H }
    const copied = Object.fromEntries(
      Object.entries(params).map(([name, values]) => {
        if (!/[kv]_proj/.test(name)) return [name, values]
        const head = values.length / K
        const heads = Array.from({ length: H }, (_, h) => Math.floor((h * K) / H))
        return [
          name,
          Float64Array.from(heads.flatMap((k) => [...values.subarray(k * head, (k + 1) * head)])),
        ]
      }),
    )
    expect(copied['model.layers.0.self_attn.k_proj.weight'].length).toBe(H * D * config.hidden_size)
    expectClose(
      forwardRef(full, copied, paddedBatch()).normed,
      forwardRef(config, params, paddedBatch()).normed,
      { atol: 1e-12, rtol: 0 },
    )
  })

  test('the residual stream is the sum of what the blocks wrote', () => {
    const { hidden_states, blocks } = forwardRef(config, params, paddedBatch())
    expect(hidden_states).toHaveLength(L + 1)
    expectClose(
      hidden_states[L],
      hidden_states[0].map(
        (x, i) => x + blocks.reduce((sum, b) => sum + b.attn_out[i] + b.ffn_out[i], 0),
      ),
      { atol: 1e-12, rtol: 0 },
    )
  })
})
