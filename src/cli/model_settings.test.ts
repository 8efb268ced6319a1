// The settings that begin with a model from elsewhere are small enough for a browser, and the
// recipes of the shipped models are sound.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseExperiment } from '../document/experiment/experiment.ts'
import { presetOf } from '../document/presets/presets.ts'
import { memoryBudget } from '../host/worker/base/memory_budget.ts'
import { planMemory } from '../rl/train/parts/memory.ts'
import { grpo, LORA, SHAPES } from '../rl/train/real/testing.ts'

test.for(['arithmetic', 'sorter'])('the recipe of the shipped model %s', (name) => {
  const file = new URL(`../../bench/pretrained/${name}.json`, import.meta.url)
  const parsed = parseExperiment(JSON.parse(readFileSync(file, 'utf8')))
  expect(parsed.ok ? [] : parsed.issues).toEqual([])
})

test.for([
  ['smollm2-135m-countdown', '135m'],
  ['qwen3-0-6b-gsm8k', '0.6b'],
] as const)('%s has the shape of its model, and room for prompts of 256 tokens', ([id, shape]) => {
  const preset = presetOf(id)
  if (!preset) throw new Error(`no preset ${id}`)
  const { model, rollout } = preset.experiment
  const { vocab_size, hidden_size, num_hidden_layers, intermediate_size, head_dim } = model
  const { num_attention_heads, num_key_value_heads, model_type } = model
  expect(SHAPES[shape]).toMatchObject({
    vocab_size,
    hidden_size,
    num_hidden_layers,
    intermediate_size,
    head_dim,
    num_attention_heads,
    num_key_value_heads,
    model_type,
  })
  const { r, lora_alpha } = model.lora
  const adapted = { ...SHAPES[shape], dtype: 'bfloat16', lora: { ...LORA, r, lora_alpha } } as const
  const { train_batch_size: prompts, n, max_response_length: response } = rollout
  const plan = planMemory(grpo(adapted, { prompts, n, prompt: 256, response }))
  expect(plan.total()).toBeLessThan(memoryBudget(undefined))
})
