// A run from its first step to its last: its phases, its numbers, and that it repeats bit for bit.
import { expect, test } from 'vitest'
import { CONFIG, RL, SFT } from '../testing.ts'
import type { StepResult } from './parts/step_result.ts'
import {
  BUPO,
  corrected,
  numbers,
  ONE_UPDATE,
  only,
  open,
  PPO,
  rl,
  train,
  warmStart,
} from './testing.ts'
import { Trainer } from './trainer.ts'

const { warm } = await warmStart()
/** The run that most tests look at. */
const whole = await train(BUPO)

test('a run is its experiment: the same one gives the same bits, another seed does not', async () => {
  const again = await train(BUPO)
  expect(numbers(again.results)).toEqual(numbers(whole.results))
  expect(again.weights).toEqual(whole.weights)
  const other = await train({ ...BUPO, seed: 2, phases: [{ ...SFT, steps: 1 }] })
  expect(numbers(other.results)[1]).not.toEqual(numbers(whole.results)[1])
})

test('phases take exactly their steps, in order, and say why each began', () => {
  const { results } = whole
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
  const trainer = await Trainer.create(await open(), BUPO)
  const ahead: StepResult[] = []
  let inFlight: Promise<StepResult> | undefined
  while (!trainer.isFinished) {
    const { result } = await trainer.queue()
    if (inFlight) ahead.push(await inFlight)
    inFlight = result
  }
  if (inFlight) ahead.push(await inFlight)
  trainer.destroy()
  expect(numbers(ahead)).toEqual(numbers(whole.results))
  expect(ahead.map((r) => r.phase_started)).toEqual(whole.results.map((r) => r.phase_started))
})

test('every step reports what it computed, and only that', () => {
  const { results } = whole
  const V = CONFIG.model.vocab_size
  for (const { step, metrics, samples } of results.slice(1)) {
    const isRl = step > 3
    expect(isRl).toBe('critic/score/mean' in metrics)
    expect(isRl).toBe('actor/pg_loss' in metrics)
    expect(!isRl).toBe('train/loss' in metrics)
    expect(step % 2 === 0 || step % 3 === 0, `step ${step}`).toBe(
      'val-aux/parity/acc/greedy' in metrics,
    )
    for (let l = 0; l <= 3; l++) {
      expect(metrics[`layer/entropy/${l}`]).toBeGreaterThan(0)
      expect(metrics[`layer/entropy/${l}`]).toBeLessThanOrEqual(Math.log(V) + 1e-5)
    }
    if (!isRl) continue
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

test('next phase ends the current one after the step in flight', async () => {
  const gpu = await open()
  const trainer = await Trainer.create(gpu, {
    ...BUPO,
    validation: { test_freq: null, prompts: 10, n: 0 },
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

test('a phase of shorter responses counts its own columns, not the longest of any phase', async () => {
  const norm = { ...ONE_UPDATE, loss_agg_mode: 'seq-mean-token-sum-norm' } as const
  // Advantages that do not add up to nothing.
  const remax = { adv_estimator: 'remax' } as const
  const short = { ...RL.rollout, max_response_length: 2 }
  const { results } = await warm(
    only(
      rl({ ...remax, steps: 1 }, {}, norm),
      rl({ ...remax, steps: 1, rollout: short }, {}, norm),
      { ...PPO, steps: 1, rollout: short },
      rl({ steps: 1, rollout: short }, corrected({ rollout_is: 'token' })),
    ),
  )
  const [, long, ...shorter] = results
  for (const { metrics, samples } of shorter) {
    expect(Math.max(...samples.map((s) => s.response_length))).toBeLessThanOrEqual(2)
    const full = samples.filter((s) => s.response_length === 2).length / samples.length
    expect(metrics['response_length/clip_ratio']).toBe(full)
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true)
  }
  for (const [{ metrics, samples }, R] of [
    [long, 3],
    [shorter[0], 2],
  ] as const) {
    const sum = samples.reduce((total, s) => total + s.advantage * s.response_length, 0)
    expect(Math.abs(sum)).toBeGreaterThan(0.01)
    expect(metrics['actor/pg_loss']).toBeCloseTo(-sum / R, 4)
  }
  expect(shorter[2].metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1, 4)
})
