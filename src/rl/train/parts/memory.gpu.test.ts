// Tests what a run allocates: as much as was planned, and nothing once it is prepared.
import { expect, test } from 'vitest'
import type { LimitOptions } from '../../../kernels/device/timing/dispatch_limit.ts'
import { CONFIG, RL, SFT } from '../../testing.ts'
import { distillPhase } from '../distilled/testing.ts'
import { BUPO, corrected, INNER, numbers, only, open, PPO, rl } from '../testing.ts'
import { Trainer } from '../trainer.ts'
import { planMemory } from './memory.ts'
import type { StepResult } from './step_result.ts'

test('after the preparation nothing is created, and a step reads back twice in three submits', async () => {
  const gpu = await open()
  const phases = [
    { ...SFT, steps: 4 },
    { ...INNER, steps: 4 },
    { ...RL, steps: 4 },
  ]
  const validation = { test_freq: 3, prompts: 20, n: 1 }
  const trainer = await Trainer.create(gpu, { ...CONFIG, phases, validation })
  await trainer.prepareLater()
  const made = { ...gpu.counts }
  // Step 0, the warm start, the inner phase and one more; each queued before the numbers of the
  // last are awaited.
  let inFlight: Promise<StepResult> | undefined
  for (let i = 0; i < 10; i++) {
    const { result } = await trainer.queue()
    await inFlight
    inFlight = result
  }
  await inFlight
  const warm = { ...gpu.counts }
  const { metrics } = await trainer.next()
  const { reads, submits, dispatches } = gpu.counts
  while (!trainer.isFinished) await trainer.next()
  const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
  expect({ buffers, bind_groups, pipelines, live_bytes }).toEqual({
    buffers: made.buffers,
    bind_groups: made.bind_groups,
    pipelines: made.pipelines,
    live_bytes: made.live_bytes,
  })
  expect(metrics['perf/dispatches']).toBe(dispatches - warm.dispatches)
  expect(metrics['perf/submits']).toBe(3)
  expect(reads - warm.reads).toBe(2)
  expect(submits - warm.submits).toBe(3)
  trainer.destroy()
})

const muon = rl({}, {}, { optim: { ...RL.actor.optim, optimizer: 'Muon' } })
test.for([
  ['BuPO', BUPO],
  ['Muon', only(muon)],
  ['a tuned lens', only(rl({ target_layer: 2, target_readout: 'tuned' }))],
] as const)('%s: the plan counts the bytes that are really allocated', async ([, config]) => {
  const gpu = await open()
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, config)
  await trainer.prepareLater()
  const plan = planMemory(config)
  expect(plan.total()).toBe(gpu.counts.live_bytes - before)
  for (const [kind, bytes] of Object.entries(gpu.memory()))
    if (kind !== 'scratch')
      expect([kind, plan.bytes[kind as keyof typeof plan.bytes]]).toEqual([kind, bytes])
  trainer.destroy()
})

test('a teacher from outside needs no copy of the policy, one that the policy was does', async () => {
  const teacher = { ...CONFIG.model, num_hidden_layers: CONFIG.model.num_hidden_layers + 1 }
  const taught = (of: 'model' | 'reference' | 'ema') => ({
    ...CONFIG,
    teacher,
    phases: [distillPhase({ teacher: of })],
  })
  const weights = (of: Parameters<typeof taught>[0]) => planMemory(taught(of)).bytes.weights
  // A copy of what the phase trains.
  const copy = weights('reference') - weights('model')
  expect(copy).toBeGreaterThan(0)
  expect(weights('ema') - weights('model')).toBe(copy)
  const gpu = await open()
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, taught('model'))
  await trainer.prepareLater()
  expect(planMemory(taught('model')).total()).toBe(gpu.counts.live_bytes - before)
  expect((await trainer.exportState()).reference).toBeUndefined()
  trainer.destroy()
})

test('an experiment beyond the adapter is refused with the tensor and both sizes, before anything is allocated', async () => {
  const gpu = await open()
  const before = gpu.counts.buffers
  // A vocabulary and layers lie in several buffers; one matrix does not.
  const model = { ...CONFIG.model, intermediate_size: 2 ** 26 }
  await expect(Trainer.create(gpu, { ...CONFIG, model })).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringMatching(/needs \d+\.\d MB; this adapter binds at most \d+\.\d MB/),
  })
  expect(gpu.counts.buffers).toBe(before)
  gpu.destroy()
})

test('with critic, reference and correction too, the plan is what is allocated and a step creates nothing', async () => {
  const phases = [
    SFT,
    {
      ...PPO,
      steps: 2,
      actor: { ...PPO.actor, use_kl_loss: true, ppo_micro_batch_size_per_gpu: 4 },
      algorithm: {
        ...PPO.algorithm,
        use_kl_in_reward: true,
        ...corrected({ rollout_is: 'token' }),
      },
    },
    rl({ steps: 2, adv_estimator: 'remax' }, corrected({ bypass_mode: true })),
    rl({ steps: 2, adv_estimator: 'optimal_token_baseline' }),
  ]
  const config = { ...only(...phases), validation: { test_freq: 4, prompts: 10, n: 2 } }
  const gpu = await open()
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, config)
  await trainer.prepareLater()
  const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
  const plan = planMemory(config)
  expect(plan.total()).toBe(live_bytes - before)
  for (const [kind, bytes] of Object.entries(gpu.memory()))
    if (kind !== 'scratch')
      expect([kind, plan.bytes[kind as keyof typeof plan.bytes]]).toEqual([kind, bytes])
  let inFlight: Promise<StepResult> | undefined
  while (!trainer.isFinished) {
    const { result } = await trainer.queue()
    await inFlight
    inFlight = result
  }
  await inFlight
  const after = gpu.counts
  expect([after.buffers, after.bind_groups, after.pipelines, after.live_bytes]).toEqual([
    buffers,
    bind_groups,
    pipelines,
    live_bytes,
  ])
  trainer.destroy()
})

test('room is reserved for the numbers of a step that has next to no responses', async () => {
  const gpu = await open()
  const validation = { test_freq: 1, prompts: 1, n: 1 }
  const config = { ...only({ ...SFT, steps: 2 }), validation }
  const trainer = await Trainer.create(gpu, config)
  await trainer.prepareLater()
  const { buffers, live_bytes } = gpu.counts
  while (!trainer.isFinished) await trainer.next()
  expect([gpu.counts.buffers, gpu.counts.live_bytes]).toEqual([buffers, live_bytes])
  trainer.destroy()
})

test('dispatches in parts train the same bits and create nothing once they are known', async () => {
  const run = async (limits?: LimitOptions) => {
    const gpu = await open()
    if (limits) gpu.limitDispatches(limits)
    const phases = [
      { ...SFT, steps: 1 },
      { ...RL, steps: 4 },
    ]
    const trainer = await Trainer.create(gpu, { ...CONFIG, phases })
    const results: StepResult[] = []
    const created: number[] = []
    while (!trainer.isFinished) {
      results.push(await trainer.next())
      const { buffers, bind_groups, pipelines } = gpu.counts
      created.push(buffers + bind_groups + pipelines)
    }
    const weights = await trainer.exportWeights()
    trainer.destroy()
    return { results, created, weights }
  }
  const whole = await run()
  // Whatever the adapter needs: of all kernels the products take too long, and run in three parts.
  const took = (kernel: string) => (kernel.startsWith('matmul') ? 5 : 1)
  const parts = await run({ mostMs: 4, took })
  expect(numbers(parts.results)).toEqual(numbers(whole.results))
  expect(parts.weights).toEqual(whole.weights)
  const split = parts.results.map(({ metrics }) => metrics['perf/split_dispatches'])
  const longest = parts.results.map(({ metrics }) => metrics['perf/longest_dispatch_ms'])
  // Step 0 runs nothing; a phase is measured in its first three steps, and then there is nothing
  // new to say.
  expect(longest).toEqual([undefined, 5, 5, 5, 5, undefined])
  expect(split[1]).toBeGreaterThan(0)
  // The products of the second phase come on top.
  expect(split[2]).toBeGreaterThan(split[1])
  expect(split.slice(3)).toEqual([split[2], split[2], undefined])
  expect(new Set(parts.created.slice(-2)).size).toBe(1)
})
