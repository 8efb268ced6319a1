import { expect, test } from 'vitest'
import { Gpu } from '../kernels/gpu.ts'
import { planMemory } from './memory.ts'
import type { RlPhase } from './phase.ts'
import { CONFIG, RL, SFT } from './testing.ts'
import { type StepResult, Trainer, type TrainerConfig } from './trainer.ts'

const open = () => Gpu.open()

async function train(config: TrainerConfig, steps = Number.POSITIVE_INFINITY) {
  const gpu = await open()
  const trainer = await Trainer.create(gpu, config)
  const results: StepResult[] = []
  while (!trainer.isFinished && results.length <= steps) results.push(await trainer.next())
  const weights = await trainer.exportWeights()
  trainer.destroy()
  return { results, weights }
}

/** Everything but wall times. */
const numbers = (results: readonly StepResult[]) =>
  results.map(({ metrics }) =>
    Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith('timing_s/'))),
  )

const INNER: RlPhase = { ...RL, name: 'inner', target_layer: 2 }
const BUPO: TrainerConfig = {
  ...CONFIG,
  phases: [SFT, INNER, RL],
  validation: { test_freq: 2, prompts: 10, n: 2 },
}

test('a run is its experiment: the same one gives the same bits, another seed does not', async () => {
  const first = await train(BUPO)
  const second = await train(BUPO)
  expect(numbers(second.results)).toEqual(numbers(first.results))
  expect(second.weights).toEqual(first.weights)
  const other = await train({ ...BUPO, seed: 2 })
  expect(numbers(other.results)).not.toEqual(numbers(first.results))
})

test('phases take exactly their steps, in order, and say why each began', async () => {
  const { results } = await train(BUPO)
  expect(results.map(({ step, phase, phase_step }) => [step, phase, phase_step])).toEqual([
    [0, 0, 0],
    [1, 0, 1],
    [2, 0, 2],
    [3, 0, 3],
    [4, 1, 1],
    [5, 1, 2],
    [6, 1, 3],
    [7, 2, 1],
    [8, 2, 2],
    [9, 2, 3],
  ])
  const started = results.flatMap(({ step, phase_started }) =>
    phase_started ? [[step, phase_started]] : [],
  )
  expect(started).toEqual([
    [0, { phase: 0, reason: 'start' }],
    [4, { phase: 1, reason: 'steps' }],
    [7, { phase: 2, reason: 'steps' }],
  ])
})

test('steps queued ahead report the same numbers and phases as steps awaited one by one', async () => {
  const { results } = await train(BUPO)
  const trainer = await Trainer.create(await open(), BUPO)
  const ahead: StepResult[] = []
  let in_flight: Promise<StepResult> | undefined
  while (!trainer.isFinished) {
    const { result } = await trainer.queue()
    if (in_flight) ahead.push(await in_flight)
    in_flight = result
  }
  if (in_flight) ahead.push(await in_flight)
  trainer.destroy()
  expect(numbers(ahead)).toEqual(numbers(results))
  expect(ahead.map((r) => r.phase_started)).toEqual(results.map((r) => r.phase_started))
})

test('every step reports what it computed, and only that', async () => {
  const { results } = await train(BUPO)
  const V = CONFIG.model.vocab_size
  for (const { step, metrics, samples } of results.slice(1)) {
    const is_rl = step > 3
    expect(is_rl).toBe('critic/score/mean' in metrics)
    expect(is_rl).toBe('actor/pg_loss' in metrics)
    expect(!is_rl).toBe('train/loss' in metrics)
    expect(step % 2 === 0 || step % 3 === 0, `step ${step}`).toBe(
      'val-aux/parity/acc/greedy' in metrics,
    )
    for (let l = 0; l <= 3; l++) {
      expect(metrics[`layer/entropy/${l}`]).toBeGreaterThan(0)
      expect(metrics[`layer/entropy/${l}`]).toBeLessThanOrEqual(Math.log(V) + 1e-5)
    }
    if (!is_rl) continue
    expect(samples.length).toBe(16)
    const mean = samples.reduce((sum, s) => sum + s.score, 0) / 16
    expect(metrics['critic/score/mean']).toBeCloseTo(mean, 12)
    const tokens = samples.reduce((sum, s) => sum + s.response_length, 0)
    expect(metrics['response_length/mean']).toBeCloseTo(tokens / 16, 12)
    expect(metrics['actor/entropy']).toBeGreaterThan(0)
    expect(metrics['actor/entropy']).toBeLessThanOrEqual(Math.log(V) + 1e-5)
    // A group's advantages add up to nothing.
    for (let g = 0; g < 4; g++) {
      const group = samples.slice(g * 4, g * 4 + 4).map((s) => s.advantage)
      expect(group.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 9)
    }
  }
})

test('equal rewards leave the weights as they are', async () => {
  const flat = { ...CONFIG.task, score: () => 0 }
  const gpu = await open()
  const trainer = await Trainer.create(gpu, { ...CONFIG, task: flat, phases: [RL] })
  const before = await trainer.exportWeights()
  await trainer.next()
  const { metrics } = await trainer.next()
  expect(metrics['actor/grad_norm']).toBe(0)
  expect(metrics['group/informative']).toBe(0)
  expect(await trainer.exportWeights()).toEqual(before)
  trainer.destroy()
})

test('after the preparation nothing is created, and a step reads back twice in three submits', async () => {
  const gpu = await open()
  const phases = [
    { ...SFT, steps: 4 },
    { ...INNER, steps: 4 },
    { ...RL, steps: 4 },
  ]
  const validation = { test_freq: 3, prompts: 20, n: 1 }
  const trainer = await Trainer.create(gpu, { ...CONFIG, phases, validation })
  const made = { ...gpu.counts }
  // Step 0, the warm start, the inner phase and one more; each queued before the numbers of the last are awaited.
  let in_flight: Promise<StepResult> | undefined
  for (let i = 0; i < 10; i++) {
    const { result } = await trainer.queue()
    await in_flight
    in_flight = result
  }
  await in_flight
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

test('next phase ends the current one after the step in flight', async () => {
  const gpu = await open()
  const trainer = await Trainer.create(gpu, {
    ...BUPO,
    validation: { test_freq: 0, prompts: 10, n: 0 },
  })
  await trainer.next()
  await trainer.next()
  trainer.nextPhase()
  const { step, phase, phase_step, phase_started } = await trainer.next()
  expect({ step, phase, phase_step, phase_started }).toEqual({
    step: 2,
    phase: 1,
    phase_step: 1,
    phase_started: { phase: 1, reason: 'next_phase' },
  })
  trainer.nextPhase()
  await trainer.next()
  expect(trainer.isFinished).toBe(false)
  trainer.nextPhase()
  expect(trainer.isFinished).toBe(true)
  trainer.destroy()
})

test('the plan counts the bytes that are really allocated', async () => {
  const gpu = await open()
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, BUPO)
  const plan = planMemory(BUPO)
  expect(plan.total()).toBe(gpu.counts.live_bytes - before)
  for (const [kind, bytes] of Object.entries(gpu.memory()))
    if (kind !== 'scratch')
      expect([kind, plan.bytes[kind as keyof typeof plan.bytes]]).toEqual([kind, bytes])
  trainer.destroy()
})

test('an experiment beyond the adapter is refused with the tensor and both sizes, before anything is allocated', async () => {
  const gpu = await open()
  const before = gpu.counts.buffers
  const model = { ...CONFIG.model, vocab_size: 2 ** 20, hidden_size: 2 ** 11 }
  await expect(Trainer.create(gpu, { ...CONFIG, model })).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringMatching(/needs \d+\.\d MB; this adapter binds at most \d+\.\d MB/),
  })
  expect(gpu.counts.buffers).toBe(before)
  gpu.destroy()
})

test('a warm start that is put back gives the same reinforcement steps', async () => {
  const gpu = await open()
  const first = await Trainer.create(gpu, { ...CONFIG, phases: [RL] })
  const start = (await first.exportWeights()).map((w) => w * 1.1)
  const run = async () => {
    const trainer = await Trainer.create(await open(), { ...CONFIG, phases: [RL] })
    trainer.importWeights(start)
    const results = [await trainer.next(), await trainer.next(), await trainer.next()]
    trainer.destroy()
    return numbers(results)
  }
  expect(await run()).toEqual(await run())
  expect(() => first.importWeights(new Float32Array(3))).toThrow(/expected \d+ values, got 3/)
  first.destroy()
})

test('updates with a non-finite gradient are counted over the run, and the weights stay', async () => {
  const trainer = await Trainer.create(await open(), CONFIG)
  const broken = (await trainer.exportWeights()).slice()
  broken[trainer.layout.slices.norm.offset] = Number.NaN
  trainer.importWeights(broken)
  await trainer.next()
  const counts: number[][] = []
  for (let i = 0; i < 5; i++) {
    const { metrics } = await trainer.next()
    counts.push([metrics['training/skipped_updates'], metrics['training/skipped_updates_total']])
  }
  // Three supervised steps of one update, then steps of two.
  expect(counts).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 5],
    [2, 7],
  ])
  expect(await trainer.exportWeights()).toEqual(broken)
  trainer.destroy()
})

test('a device that goes away during validation fails that step, and nothing is left unhandled', async () => {
  const gpu = await open()
  const validation = { test_freq: 1, prompts: 10, n: 1 }
  const trainer = await Trainer.create(gpu, { ...CONFIG, validation })
  await trainer.next()
  // The step's metrics and the first validation batch are both on their way.
  const step = trainer.queue()
  gpu.destroy()
  await expect(step).rejects.toMatchObject({ name: 'GpuError' })
  await new Promise((resolve) => setTimeout(resolve, 50))
})
