// The experiments in bench/ that begin with a model from elsewhere are sound, and small enough for a browser.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseExperiment } from '../lab/experiment/experiment.ts'
import { memoryBudget } from '../lab/worker/memory_budget.ts'
import { planMemory } from '../rl/train/memory.ts'
import { grpo, LORA, SHAPES } from '../rl/train/real/testing.ts'

test.for([
  ['models/smollm2-135m-countdown', '135m'],
  ['models/qwen3-0.6b-gsm8k', '0.6b'],
  ['pretrained/experiment', undefined],
  ['pretrained/countdown', undefined],
] as const)('%s', ([name, shape]) => {
  const file = new URL(`../../bench/${name}.json`, import.meta.url)
  const parsed = parseExperiment(JSON.parse(readFileSync(file, 'utf8')))
  expect(parsed.ok ? [] : parsed.issues).toEqual([])
  if (!parsed.ok || !shape) return
  const { model, rollout } = parsed.experiment
  const { r, lora_alpha } = model.lora
  const adapted = { ...SHAPES[shape], dtype: 'bfloat16', lora: { ...LORA, r, lora_alpha } } as const
  const { train_batch_size: prompts, n, max_response_length: response } = rollout
  const plan = planMemory(grpo(adapted, { prompts, n, prompt: 256, response }))
  expect(plan.total()).toBeLessThan(memoryBudget(undefined))
})
