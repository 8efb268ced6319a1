import { describe, expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import type { ModelConfig } from '../layout/config.ts'
import type { RefArrays } from './operations.ref.ts'
import { logitsRef, policyRef } from './policy.ref.ts'
import { forwardRef } from './transformer.ref.ts'

describe('the reference model, by hand', () => {
  // One head of two, one block. The embedding of token 0 is (3, 4), of token 1 (1, 0).
  const config: ModelConfig = {
    model_type: 'llama',
    vocab_size: 2,
    hidden_size: 2,
    intermediate_size: 1,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    head_dim: 2,
    rms_norm_eps: 0,
    rope_theta: 10_000,
    tie_word_embeddings: true,
  }
  const identity = Float64Array.of(1, 0, 0, 1)
  const zero = (size: number) => new Float64Array(size)
  const at = 'model.layers.0'
  const params: RefArrays = {
    'model.embed_tokens.weight': Float64Array.of(3, 4, 1, 0),
    [`${at}.input_layernorm.weight`]: Float64Array.of(1, 1),
    [`${at}.self_attn.q_proj.weight`]: identity,
    [`${at}.self_attn.k_proj.weight`]: identity,
    [`${at}.self_attn.v_proj.weight`]: identity,
    [`${at}.self_attn.o_proj.weight`]: identity,
    [`${at}.post_attention_layernorm.weight`]: Float64Array.of(1, 1),
    [`${at}.mlp.gate_proj.weight`]: zero(2),
    [`${at}.mlp.up_proj.weight`]: Float64Array.of(1, 1),
    [`${at}.mlp.down_proj.weight`]: Float64Array.of(1, 1),
    'model.norm.weight': Float64Array.of(1, 2),
  }
  const batch = {
    input_ids: [1, 1],
    attention_mask: [1, 1],
    position_ids: [0, 1],
    rows: 1,
    width: 2,
  }
  const root = Math.SQRT2

  test('two tokens attend by the cosine of their distance', () => {
    const { blocks, hidden_states, normed } = forwardRef(config, params, batch)
    // norm(1, 0) = (√2, 0); at position 1 it is rotated by 1 radian; scores are 2 cos(1) / √2 and 2
    // / √2.
    expectClose(blocks[0].attn_in, [root, 0, root, 0], { atol: 1e-15 })
    expectClose(blocks[0].kRotated, [root, 0, root * Math.cos(1), root * Math.sin(1)])
    const p = 1 / (1 + Math.exp(root - root * Math.cos(1)))
    expectClose(blocks[0].attnProbs, [1, 0, p, 1 - p], { atol: 1e-15 })
    // Values are not rotated, and silu(0) = 0 silences the feed-forward.
    expectClose(hidden_states[1], [1 + root, 0, 1 + root, 0], { atol: 1e-15 })
    expectClose(normed, [root, 0, root, 0], { atol: 1e-15 })
  })

  test('logits are products with the embeddings, read from first_column on, normed for the last layer only', () => {
    const cache = forwardRef(config, params, { ...batch, input_ids: [1, 0] }, { layers: 0 })
    expectClose(logitsRef(config, params, cache.hidden_states[0]), [3, 1, 25, 3])
    const { log_probs, entropy } = policyRef(config, params, cache, 0, {
      response_ids: [0, 1],
      response_mask: [1, 1],
      first_column: 0,
      response_length: 2,
      temperature: 2,
    })
    // Divided by 2, the logits are 1 and 11 apart.
    const p = [1 / (1 + Math.exp(-1)), 1 / (1 + Math.exp(11))]
    expectClose(log_probs, p.map(Math.log), { atol: 1e-14 })
    expectClose(
      entropy,
      p.map((x) => -x * Math.log(x) - (1 - x) * Math.log(1 - x)),
      { atol: 1e-14 },
    )
    // norm(1, 0) = (√2, 0) and norm(3, 4) = (3, 4) / √12.5, times (1, 2).
    expectClose(cache.normed, [root, 0, 3 / Math.sqrt(12.5), 8 / Math.sqrt(12.5)])
  })

  test('a layer that was not run cannot be read', () => {
    const cache = forwardRef(config, params, batch, { layers: 0 })
    const nothing = {
      response_ids: [],
      response_mask: [],
      first_column: 0,
      response_length: 0,
      temperature: 1,
    }
    expect(() => policyRef(config, params, cache, 1, nothing)).toThrow(/at most 0 blocks, got 1/)
  })
})
