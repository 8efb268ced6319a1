// Checks the planned memory of real models, and that the documentation says the same.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { PRESETS } from '../document/presets/presets.ts'
import { plannedModel } from '../host/worker/opened/model_plan.ts'
import { planUses } from '../rl/train/uses/planned_uses.ts'

const LLAMA = {
  model_type: 'llama',
  vocab_size: 32_000,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  num_key_value_heads: undefined as number | undefined,
}
const QWEN = {
  vocab_size: 151_936,
  rope_theta: 1e6,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
  torch_dtype: 'bfloat16',
}
const SMOLLM = { ...LLAMA, vocab_size: 49_152, rope_theta: 1e5, torch_dtype: 'bfloat16' }

/** config.json of each, in short: hidden, feed-forward, layers, heads, key-value heads. */
const sizes = (C: number, F: number, L: number, H: number, K: number) => ({
  hidden_size: C,
  intermediate_size: F,
  num_hidden_layers: L,
  num_attention_heads: H,
  num_key_value_heads: K,
})
const MODELS = {
  'stories15M shape': { ...LLAMA, ...sizes(288, 768, 6, 6, 6) },
  'stories110M shape': { ...LLAMA, ...sizes(768, 2048, 12, 12, 12) },
  'SmolLM2-135M': { ...SMOLLM, ...sizes(576, 1536, 30, 9, 3) },
  'SmolLM2-360M': { ...SMOLLM, ...sizes(960, 2560, 32, 15, 5) },
  'Qwen2.5-0.5B': { ...QWEN, model_type: 'qwen2', ...sizes(896, 4864, 24, 14, 2) },
  'Qwen3-0.6B': { ...QWEN, model_type: 'qwen3', head_dim: 128, ...sizes(1024, 3072, 28, 16, 8) },
}

const usual = PRESETS.find(({ id }) => id === 'tiny-grpo')?.experiment
const GIB = 2 ** 30

function planned(config: object, allowed = 4 * GIB, mostBinding = 2 ** 30) {
  if (!usual) throw new Error('no preset')
  const json = new Uint8Array(new TextEncoder().encode(JSON.stringify(config)))
  return plannedModel(json, (facts) => planUses(facts, trainerConfig(usual)), allowed, mostBinding)
}

test('the table of the documentation is what is planned', () => {
  const rows = Object.entries(MODELS).map(([name, config]) => {
    // With no memory at all, each use is planned in the way that takes the least.
    const { num_parameters, uses } = planned(config, 0)
    const bytes = uses.map(({ bytes }) => `${(bytes / GIB).toFixed(2)} GiB`)
    return `| ${[name, `${(num_parameters / 1e6).toFixed(1)} M`, ...bytes].join(' | ')} |`
  })
  const text = readFileSync(new URL('../../docs/models.md', import.meta.url), 'utf8')
  expect(text.split('\n').filter((line) => /^\| (stories|Smol|Qwen)/.test(line))).toEqual(rows)
})

test('what does not fit says why: too much in all, or in one buffer', () => {
  const [look, lora, full] = planned(MODELS['SmolLM2-135M'], GIB).uses
  expect([look.what, lora.what, full.what]).toEqual(['look', 'lora', 'full'])
  expect([look.why_not, lora.why_not]).toEqual([undefined, undefined])
  expect(full.why_not).toBe('more than the 1.00 GiB that may be taken here')
  expect([lora, full].map((use) => use.enable_gradient_checkpointing)).toEqual([false, true])
  const [narrow] = planned(MODELS['SmolLM2-135M'], GIB, 2 ** 20).uses
  expect(narrow.why_not).toContain('MiB in one buffer')
})

test('a training that fits with gradient checkpointing alone gets it, and one that fits without does not', () => {
  const full = (allowed: number) => planned(MODELS['SmolLM2-135M'], allowed).uses[2]
  const [least, most] = [full(0), full(100 * GIB)]
  expect(most.bytes).toBeGreaterThan(least.bytes)
  expect(full(most.bytes)).toEqual(most)
  expect(most.enable_gradient_checkpointing).toBe(false)
  const between = full(most.bytes - 1)
  expect(between).toEqual({ ...least, why_not: undefined })
  expect(between.enable_gradient_checkpointing).toBe(true)
})
