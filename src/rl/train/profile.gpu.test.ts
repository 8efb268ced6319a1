// A profile must show what a step does and change nothing of it.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import type { Profile } from '../../kernels/device/timing/profiler.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { Trainer } from './trainer.ts'

const PPO = {
  ...RL,
  steps: 2,
  adv_estimator: 'gae',
  actor: { ...RL.actor, use_kl_loss: true },
} as const
const config = {
  ...CONFIG,
  phases: [{ ...SFT, steps: 2 }, PPO],
  probe: { freq: 1, rows: 4 },
  validation: { test_freq: null, prompts: 4, n: 1 },
}

async function train(isProfiled: boolean, timestamps = true) {
  const gpu = await Gpu.open({ timestamps })
  const trainer = await Trainer.create(gpu, config)
  const profiles: Profile[] = []
  const results: Record<string, number>[] = []
  const buffers = gpu.counts.buffers
  while (!trainer.isFinished) {
    const next = () => trainer.next()
    const profiled = isProfiled ? await gpu.profile(next) : undefined
    if (profiled) profiles.push(profiled.profile)
    const { metrics, samples } = profiled?.result ?? (await next())
    const kept = Object.entries(metrics).filter(
      ([name]) =>
        !/^timing_|^perf\/(time_per_step|throughput|submits|longest_dispatch_ms|split_dispatches)$/.test(
          name,
        ),
    )
    results.push({ ...Object.fromEntries(kept), samples: samples.length })
  }
  expect(gpu.counts.buffers).toBe(buffers)
  const hasTimestamps = gpu.facts.features.includes('timestamp-query')
  const weights = await trainer.exportWeights()
  trainer.destroy()
  return { results, profiles, weights, hasTimestamps }
}

const plain = await train(false)

test.for([true, false])('a profiled run has the same bits, timestamps: %s', async (timestamps) => {
  const { results, profiles, weights, hasTimestamps } = await train(true, timestamps)
  expect(results).toEqual(plain.results)
  expect(weights).toEqual(plain.weights)
  const source = timestamps && hasTimestamps ? 'timestamps' : 'wall'
  expect(new Set(profiles.map((profile) => profile.source))).toEqual(new Set([source]))

  const [, sft, , rl] = profiles
  expect(sft.stages.map(({ name }) => name)).toEqual(['sft', 'probe'])
  expect(rl.stages.map(({ name }) => name)).toEqual([
    'gen',
    'old_log_prob',
    'ref',
    'values',
    'update_critic',
    'update_actor',
    'probe',
  ])
  expect(rl.dispatches).toBe(results[3]['perf/dispatches'])
  for (const row of rl.stages) {
    expect(row.time_ms, row.name).toBeGreaterThanOrEqual(0)
    expect(row.flops, row.name).toBeGreaterThan(0)
  }
  expect(rl.time_ms).toBeGreaterThan(0)
  expect(rl.kernels.map(({ calls }) => calls).reduce((a, b) => a + b)).toBe(rl.dispatches)
  const product = rl.kernels.find(({ name }) => name.startsWith('matmul'))
  expect(product?.time_ms === undefined).toBe(source === 'wall')
  expect(product?.flops).toBeGreaterThan(0)
})

test('profiles are taken one at a time; work that fails ends its own', async () => {
  const gpu = await Gpu.open()
  const nested = gpu.profile(() => gpu.profile(() => {}))
  await expect(nested).rejects.toThrow(/already/)
  const failing = gpu.profile(() => {
    throw new RangeError('no work')
  })
  await expect(failing).rejects.toThrow(/no work/)
  const { result, profile } = await gpu.profile(() => 7)
  expect([result, profile.dispatches, profile.stages, profile.time_ms]).toEqual([7, 0, [], 0])
  gpu.destroy()
})
