// A run whose task brings a vocabulary and partial scores: everything that says tokens or scores
// follows the task.
import { expect, test } from 'vitest'
import { createTask } from '../../tasks/index.ts'
import { isRight } from '../../tasks/task/task.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { NO_OBSERVATION } from '../look/observation.ts'
import { mean } from '../math/stats.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { open } from './testing.ts'
import { Trainer } from './trainer.ts'

const task = createTask('spell_backward', { min_length: 2, max_length: 2 })
const { tokens, vocab_size } = task.tokenizer
const STEPS = 40
const config: TrainerConfig = {
  ...CONFIG,
  task,
  model: { ...CONFIG.model, vocab_size },
  phases: [
    { ...SFT, steps: STEPS, batch_size: 16, optim: { ...SFT.optim, lr: 0.015 } },
    { ...RL, steps: 2, rollout: { ...RL.rollout, n: 8 } },
  ],
  validation: { test_freq: STEPS, prompts: 32, n: 2, log_val_generations: 96 },
}

test('samples, trace, lens and validation have the task’s tokens and its scores', async () => {
  const trainer = await Trainer.create(await open(), config)
  trainer.observe({ ...NO_OBSERVATION, tokens: true, lens: { held_out: 2, samples: [] } })
  const results = []
  while (!trainer.isFinished) results.push(await trainer.next())
  trainer.destroy()

  const sampled = results.flatMap(({ samples }) => samples)
  expect(sampled).toHaveLength(2 * 4 * 8)
  for (const { prompt, response, score, is_ended } of sampled) {
    expect(prompt).toMatch(/^[a-z]{2}=$/)
    expect(score).toBe(is_ended ? task.score(prompt, response) : 0)
  }
  const traced = results.flatMap(({ trace }) => trace?.samples ?? [])
  expect(traced.length).toBeGreaterThan(0)
  for (const { tokens: own } of traced) for (const token of own) expect(tokens).toContain(token)

  const seen = results.flatMap(({ observation }) => observation?.lenses ?? [])
  expect(seen.length).toBeGreaterThan(0)
  for (const { prompt, response, tokens: own, raw } of seen) {
    expect(own.join('')).toBe(`${prompt}${response}<eos>`)
    for (const token of raw.top) expect(tokens).toContain(token)
  }

  const [evaluated] = results.filter(({ generations }) => generations).slice(-1)
  const { metrics, generations = [] } = evaluated
  const scores = (doSample: boolean) =>
    generations.filter((one) => one.do_sample === doSample).map(({ score }) => score)
  const accuracy = (of: readonly number[]) => mean(of.map((score) => (isRight(score) ? 1 : 0)))
  expect(scores(true).some((score) => score > 0 && !isRight(score))).toBe(true)
  expect(metrics['val-aux/spell_backward/acc/greedy']).toBeCloseTo(accuracy(scores(false)), 12)
  expect(metrics['val-core/spell_backward/acc/mean@2']).toBeCloseTo(accuracy(scores(true)), 12)
  expect(metrics['val-aux/spell_backward/reward/mean@2']).toBeCloseTo(mean(scores(true)), 12)
})
