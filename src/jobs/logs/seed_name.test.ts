import { expect, test } from 'vitest'
import { seedName } from './seed_name.ts'

test.each([
  ['grpo_seed1', 1, 'grpo'],
  ['grpo-lr1e-4-s3', 3, 'grpo-lr1e-4'],
  ['Qwen3 GRPO (seed 42)', 42, 'Qwen3 GRPO'],
  ['seed=7_bupo', 7, 'bupo'],
  ['runs/ppo/random_seed_2', 2, 'runs/ppo'],
  ['gsm8k.rs-11.final', 11, 'gsm8k.final'],
])('%s has seed %i of %s', (name, seed, setting) => {
  expect(seedName(name)).toEqual({ seed, setting })
})

test.each(['vivid-sun-12', 's1K', 'steps100', 'gs8_run', 'seed_1', 'grpo', 'seeds', 'lr-s-3'])(
  '%s has none',
  (name) => {
    expect(seedName(name)).toBeUndefined()
  },
)
