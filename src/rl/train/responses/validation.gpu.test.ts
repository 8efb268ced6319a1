// Tests what an evaluation answers, when it is made, and what it needs.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import type { Validation } from '../../config/validation.ts'
import { mean } from '../../math/stats.ts'
import { CONFIG, RL } from '../../testing.ts'
import { planMemory } from '../parts/memory.ts'
import { Trainer } from '../trainer.ts'

const PROMPTS = 10
const DEFAULTS: Validation = { test_freq: 2, prompts: PROMPTS, n: 1 }

const configOf = (validation: Partial<Validation>, rl: Partial<RlPhase> = {}): TrainerConfig => ({
  ...CONFIG,
  phases: [{ ...RL, steps: 3, ...rl }],
  validation: { ...DEFAULTS, ...validation },
})

/** The first `steps` results of a run, step 0 included. */
async function results(config: TrainerConfig, steps: number) {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, config)
  const taken = []
  for (let i = 0; i < steps; i++) taken.push(await trainer.next())
  trainer.destroy()
  return taken
}

const start = async (...args: Parameters<typeof configOf>) =>
  (await results(configOf(...args), 1))[0]

const valuesOf = (metrics: Record<string, number>) =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith('val-')))

test('held-out samples have a temperature of their own; without one they have that of training', async () => {
  const kept = { log_val_generations: 2 * PROMPTS, n: 2 }
  const plain = await start(kept)
  const same = await start({ ...kept, temperature: RL.rollout.temperature })
  expect(valuesOf(same.metrics)).toEqual(valuesOf(plain.metrics))
  expect(same.generations).toEqual(plain.generations)
  const cold = await start({ ...kept, temperature: 0.05 })
  const greedy = 'val-aux/parity/acc/greedy'
  expect(cold.metrics[greedy]).toBe(plain.metrics[greedy])
  // The colder, the oftener a sample is what the likeliest tokens say.
  const likeliest = ({ generations = [] }: typeof cold) =>
    generations.filter(
      ({ input, output, do_sample }) =>
        do_sample &&
        generations.some((g) => !g.do_sample && g.input === input && g.output === output),
    ).length
  expect(likeliest(cold)).toBeGreaterThan(likeliest(plain))
})

test('step 0 is evaluated when it is asked for, whatever is said of later steps', async () => {
  const evaluated = async (validation: Partial<Validation>) =>
    (await results(configOf(validation), 4)).flatMap(({ step, metrics }) =>
      'val-aux/parity/acc/greedy' in metrics ? [step] : [],
    )
  expect(await evaluated({ test_freq: 2 })).toEqual([0, 2, 3])
  expect(await evaluated({ test_freq: 2, val_before_train: 'disable' })).toEqual([2, 3])
  expect(await evaluated({ test_freq: null, val_before_train: 'enable' })).toEqual([0])
  expect(await evaluated({ test_freq: null })).toEqual([])
  expect(await evaluated({ test_freq: null, val_before_train: 'disable' })).toEqual([])
})

test('answers are handed over with their problems, as many as were asked for', async () => {
  const { metrics, generations = [] } = await start({ n: 2, log_val_generations: 100 })
  const greedy = generations.filter(({ do_sample }) => !do_sample)
  const sampled = generations.filter(({ do_sample }) => do_sample)
  expect([greedy.length, sampled.length]).toEqual([PROMPTS, 2 * PROMPTS])
  expect(mean(greedy.map(({ score }) => score))).toBe(metrics['val-aux/parity/acc/greedy'])
  const average = mean(sampled.map(({ score }) => score))
  expect(average).toBeCloseTo(metrics['val-core/parity/acc/mean@2'], 12)
  const { task, seed } = CONFIG
  for (const [i, { input, output, gts, score, is_ended }] of generations.entries()) {
    const problem = task.sample(seed, i % PROMPTS, 'test')
    expect([input, gts]).toEqual([problem.prompt, problem.ground_truth])
    expect(score).toBe(is_ended ? task.score(input, output) : 0)
  }
  // One to each of the first problems, greedy and sampled.
  const few = await start({ n: 2, log_val_generations: 3 })
  expect(few.generations).toEqual([...greedy.slice(0, 3), ...sampled.slice(0, 3)])
  expect(await start({ n: 2 })).not.toHaveProperty('generations')
  const { generations: alone } = await start({ n: 0, log_val_generations: 4 })
  expect(alone).toEqual(greedy.slice(0, 4))
  // The last step of a phase that ends by itself is evaluated too.
  const stop = {
    accuracy: null,
    score: null,
    plateau_steps: 1,
    plateau_delta: 1,
    entropy_floor: null,
  }
  const ended = await results(configOf({ test_freq: 50, log_val_generations: 1 }, { stop }), 3)
  expect(ended.map((result) => result.generations?.length)).toEqual([2, undefined, 2])
})

test('thirty-two samples to each problem come in batches that the plan knows, of the same bits in any batch', async () => {
  const sampled = async (train_batch_size: number) => {
    const rollout = { ...RL.rollout, train_batch_size }
    const config = configOf({ n: 32, log_val_generations: 128 }, { rollout })
    const gpu = await Gpu.open()
    const before = gpu.counts.live_bytes
    const trainer = await Trainer.create(gpu, config)
    const { live_bytes, buffers } = gpu.counts
    expect(planMemory(config).total()).toBe(live_bytes - before)
    const { metrics, generations } = await trainer.next()
    expect([gpu.counts.live_bytes, gpu.counts.buffers]).toEqual([live_bytes, buffers])
    trainer.destroy()
    return { values: valuesOf(metrics), generations }
  }
  const small = await sampled(RL.rollout.train_batch_size)
  const large = await sampled(4 * RL.rollout.train_batch_size)
  expect(small).toEqual(large)
  for (const k of [2, 4, 8, 16, 32])
    for (const what of ['best', 'maj'])
      expect(
        small.values[`val-${k === 32 ? 'core' : 'aux'}/parity/acc/${what}@${k}/mean`],
      ).toBeTypeOf('number')
})
