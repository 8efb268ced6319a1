// The seconds of each stage, under verl's names.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { STAGE_STAMPS } from '../../kernels/device/timing/stage_clock.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, RL } from '../testing.ts'
import { Trainer } from './trainer.ts'

const PPO: RlPhase = {
  ...RL,
  adv_estimator: 'gae',
  steps: 3,
  rollout: { ...RL.rollout, train_batch_size: 8, n: 1 },
  actor: { ...RL.actor, ppo_mini_batch_size: 8, use_kl_loss: true },
}

/** Stamps of a clock that needs no GPU: of the pairs of a step, the first lasts a second, and each
 * twice as long as the one before. */
const TICKS = new Uint32Array(STAGE_STAMPS)
for (let pair = 0, now = 0; pair < 10; pair++)
  for (const at of [2 * pair, 2 * pair + 1]) {
    if (at % 2 === 1) now += 1e9 * 2 ** pair
    TICKS.set([now % 2 ** 32, Math.floor(now / 2 ** 32)], 2 * at)
  }

async function run(timestamps: boolean, test_freq: number | null = null) {
  const gpu = await Gpu.open({ timestamps })
  const { resolveStages } = gpu
  gpu.resolveStages = () => {
    const stages = resolveStages.call(gpu)
    return stages && { ...stages, timesOf: () => stages.timesOf(TICKS) }
  }
  const validation = { ...CONFIG.validation, test_freq }
  const config: TrainerConfig = { ...CONFIG, phases: [PPO], validation }
  const trainer = await Trainer.create(gpu, config)
  await trainer.prepareLater()
  const steps: Record<string, number>[] = []
  const created: number[] = []
  while (!trainer.isFinished) {
    steps.push((await trainer.next()).metrics)
    const { buffers, bind_groups, pipelines } = gpu.counts
    created.push(buffers + bind_groups + pipelines)
  }
  const weights = await trainer.exportWeights()
  trainer.destroy()
  return { gpu, steps: steps.slice(1), created, weights }
}

const timed = (metrics: Record<string, number>) =>
  Object.keys(metrics).filter((name) => name.startsWith('timing_s/'))

test('a step says what each of its stages took, without another bit, submit or buffer', async () => {
  const { gpu, steps, created, weights } = await run(true)
  const plain = await run(false)
  for (const metrics of plain.steps)
    expect(timed(metrics).sort()).toEqual(
      ['gen', 'reward', 'adv', 'step'].map((name) => `timing_s/${name}`).sort(),
    )
  expect(plain.weights).toEqual(weights)
  expect(steps.map((m) => m['perf/submits'])).toEqual(plain.steps.map((m) => m['perf/submits']))
  expect(new Set(created.slice(1)).size).toBe(1)
  if (!gpu.facts.features.includes('timestamp-query')) return
  // In the order of the step, each once, after the rollout.
  const stages = ['old_log_prob', 'ref', 'values', 'update_critic', 'update_actor']
  for (const metrics of steps) {
    expect(stages.map((stage) => metrics[`timing_s/${stage}`])).toEqual([2, 4, 8, 16, 32])
    expect(metrics['timing_per_token_ms/update_actor']).toBeGreaterThan(0)
    expect('timing_per_token_ms/old_log_prob' in metrics).toBe(false)
  }
})

test('only a step that validates has the time of a validation', async () => {
  const { steps } = await run(true, 2)
  expect(steps.map((metrics) => 'timing_s/testing' in metrics)).toEqual([false, true, true])
})
