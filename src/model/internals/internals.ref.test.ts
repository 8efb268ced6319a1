import { describe, expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import type { ModelConfig } from '../layout/config.ts'
import { CONFIGS, TINY, testBatch, testWeights } from '../testing.ts'
import { policyRef } from '../transformer/policy.ref.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import {
  type Internals,
  maskOf,
  nextMask,
  type Quantity,
  tokenMeans,
} from './internal_quantities.ts'
import { internalsRef } from './internals.ref.ts'

const BATCH = testBatch(
  [
    { prompt: 3, response: 2 },
    { prompt: 1, response: 3 },
  ],
  { P: 3, R: 3, vocab_size: TINY.vocab_size, seed: 5 },
)
const RESPONSE = { ...BATCH, positions: 'response' as const, response_length: BATCH.R }

function probe(config: ModelConfig) {
  const { exact } = testWeights(config, 1)
  const cache = forwardRef(config, exact, BATCH)
  return { exact, cache, internals: internalsRef(config, exact, cache) }
}
/** Entry l of a quantity, [N]. */
const entry = (
  { rows, columns, values }: Internals<Quantity, Float64Array>,
  q: Quantity,
  l: number,
) => values[q].subarray(l * rows * columns, (l + 1) * rows * columns)

// Two entries, one channel, one block that adds nothing: H = (1, 1), so everything can be worked
// out by hand.
const HAND: ModelConfig = {
  model_type: 'llama',
  vocab_size: 2,
  hidden_size: 2,
  intermediate_size: 1,
  num_hidden_layers: 1,
  num_attention_heads: 1,
  num_key_value_heads: 1,
  head_dim: 2,
  rms_norm_eps: 0,
  rope_theta: 100,
  tie_word_embeddings: false,
}

test('the reference gives the numbers worked out by hand', () => {
  const at = (name: string) => `model.layers.0.${name}.weight`
  const params = {
    'model.embed_tokens.weight': Float64Array.of(3, 4, 4, -3),
    // logits = (x₀, 0)
    'lm_head.weight': Float64Array.of(1, 0, 0, 0),
    'model.norm.weight': Float64Array.of(1, 1),
    [at('input_layernorm')]: Float64Array.of(1, 1),
    [at('self_attn.q_proj')]: new Float64Array(4),
    [at('self_attn.k_proj')]: new Float64Array(4),
    // v = normed; A = (0, v₀): what the mean of the tokens seen so far has in channel 0, written to
    // channel 1.
    [at('self_attn.v_proj')]: Float64Array.of(1, 0, 0, 1),
    [at('self_attn.o_proj')]: Float64Array.of(0, 0, 1, 0),
    [at('post_attention_layernorm')]: Float64Array.of(1, 1),
    [at('mlp.gate_proj')]: new Float64Array(2),
    [at('mlp.up_proj')]: new Float64Array(2),
    [at('mlp.down_proj')]: new Float64Array(2),
  }
  const batch = {
    input_ids: [0, 1],
    attention_mask: [1, 1],
    position_ids: [0, 1],
    rows: 1,
    width: 2,
  }
  const { values, nextMask } = internalsRef(HAND, params, forwardRef(HAND, params, batch))
  // H⁰ = (3, 4), (4, −3), both of length 5 and root mean square 5/√2. normed₀ = 3√2/5, 4√2/5.
  const a = (3 * Math.SQRT2) / 5
  const b = (a + (4 * Math.SQRT2) / 5) / 2
  const entropy = (z: number) => {
    const p = 1 / (1 + Math.exp(-z))
    return -p * Math.log(p) - (1 - p) * Math.log(1 - p)
  }
  expectClose(values.norm_hidden, [5, 5, Math.hypot(3, 4 + a), Math.hypot(4, b - 3)])
  expectClose(values.norm_attn_out, [a, b])
  expect([...values.norm_ffn_out]).toEqual([0, 0])
  expectClose(values.cos_attn, [4 / 5, -3 / 5])
  // A write of zero has no direction.
  expect([...values.cos_ffn]).toEqual([0, 0])
  expectClose(values.ent_layer_raw, [entropy(3), entropy(4), entropy(3), entropy(4)])
  expectClose(values.ent_attn_out, [Math.log(2), Math.log(2)])
  expectClose(values.dH_attn, [Math.log(2) - entropy(a), Math.log(2) - entropy((4 / 3) * a)])
  expectClose(values.dH_layer, [0, 0])
  // The only next token is id 1 with logit 0 beside 3; the last column has none.
  const logProb = -Math.log(1 + Math.exp(3))
  expectClose(values.logp_next_layer, [logProb, 0, logProb, 0])
  expect([...nextMask]).toEqual([1, 0])
  expectClose(values.cos_hidden, [
    1,
    1,
    (25 + 4 * a) / (5 * Math.hypot(3, 4 + a)),
    (25 - 3 * b) / (5 * Math.hypot(4, b - 3)),
    (25 + 4 * a) / (5 * Math.hypot(3, 4 + a)),
    (25 - 3 * b) / (5 * Math.hypot(4, b - 3)),
    1,
    1,
  ])
  // KL between two Bernoulli policies with logits 3 and the normed state's.
  const q = (Math.SQRT2 * 3) / Math.hypot(3, 4 + a)
  const [p3, pq] = [3, q].map((z) => 1 / (1 + Math.exp(-z)))
  const kl = (p: number, r: number) => p * Math.log(p / r) + (1 - p) * Math.log((1 - p) / (1 - r))
  expectClose([values.kl_layer_final[2], values.kl_final_layer[2]], [kl(p3, pq), kl(pq, p3)])
})

describe.for(CONFIGS.map((config) => [config.model_type, config] as const))('%s', ([, config]) => {
  const { exact, cache, internals } = probe(config)
  const L = config.num_hidden_layers
  const tight = { atol: 1e-12, rtol: 1e-12 }

  test('each block adds A and F to the residual stream', () => {
    cache.blocks.forEach(({ attn_out, ffn_out }, l) => {
      const sum = cache.hidden_states[l].map((x, i) => x + attn_out[i] + ffn_out[i])
      expectClose(cache.hidden_states[l + 1], sum, tight)
    })
  })

  test('entropies lie between 0 and log V; their changes add up over blocks', () => {
    for (const name of ['ent_layer_raw', 'ent_layer_norm', 'ent_attn_out', 'ent_ffn_in'] as const)
      for (const h of internals.values[name])
        expect(h >= 0 && h <= Math.log(config.vocab_size) + 1e-12).toBe(true)
    const change = entry(internals, 'ent_layer_raw', L).map(
      (h, i) => h - internals.values.ent_layer_raw[i],
    )
    const sum = change.map((_, i) =>
      Array.from({ length: L }, (_, l) => entry(internals, 'dH_layer', l)[i]).reduce(
        (a, b) => a + b,
      ),
    )
    expect(Math.max(...change.map(Math.abs))).toBeGreaterThan(0.01)
    expectClose(sum, change, tight)
  })

  test('the last state with the final norm is the model itself, the inner ones are policyRef’s', () => {
    const response = internalsRef(config, exact, cache, RESPONSE)
    for (let l = 0; l <= L; l++) {
      const { log_probs, entropy } = policyRef(config, exact, cache, l, {
        ...RESPONSE,
        first_column: BATCH.P - 1,
        temperature: 1,
      })
      const kind =
        l === L
          ? (['ent_layer_norm', 'logp_next_layer_norm'] as const)
          : (['ent_layer_raw', 'logp_next_layer'] as const)
      expectClose(entry(response, kind[0], l), entropy, tight)
      expectClose(entry(response, kind[1], l), log_probs, tight)
    }
  })

  test('divergences are not negative; a state is parallel to itself', () => {
    const { values, mask } = internals
    for (const kl of [...values.kl_layer_final, ...values.kl_final_layer])
      expect(kl).toBeGreaterThan(-1e-12)
    for (let l = 0; l <= L; l++)
      expectClose(entry(internals, 'cos_hidden', l * (L + 1) + l), mask, tight)
  })
})

test('nextMask ends at the row and at padding', () => {
  expect([...nextMask(Float32Array.of(0, 1, 1, 1, 1, 0), 3)]).toEqual([0, 1, 0, 1, 0, 0])
})

describe('tokenMeans', () => {
  const internals = {
    rows: 2,
    columns: 2,
    num_hidden_layers: 1,
    mask: Float32Array.of(1, 1, 1, 0),
    nextMask: Float32Array.of(1, 0, 0, 0),
    values: {
      norm_attn_out: Float32Array.of(1, 2, 6, 0),
      logp_next_layer: Float32Array.of(-1, 0, 0, 0, -2, 0, 0, 0),
      logits: new Float32Array(8),
    },
  }

  test('every token weighs the same, in whichever row', () => {
    expect(tokenMeans(internals)).toEqual({
      norm_attn_out: Float64Array.of(3),
      logp_next_layer: Float64Array.of(-1, -2),
    })
    expect(maskOf(internals, 'logp_next_layer')).toBe(internals.nextMask)
  })

  test('a mask picks tokens; a quantity without any is absent', () => {
    expect(tokenMeans(internals, [0, 1, 1, 1])).toEqual({ norm_attn_out: Float64Array.of(4) })
    expect(tokenMeans(internals, [0, 0, 0, 1])).toEqual({})
    expect(() => tokenMeans(internals, [1])).toThrow(/mask: expected \[2, 2\], got 1 values/)
  })
})
