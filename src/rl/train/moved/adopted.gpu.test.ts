// Other phases in a trainer that is at work, and phases that end before their last step.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import type { RlPhase } from '../../config/phase.ts'
import { CONFIG, REWARD_MODEL, RL, SFT } from '../../testing.ts'
import { Trainer } from '../trainer.ts'
import { FULL, INNER, PPO, uninterrupted } from './testing.ts'

test('another list of phases is adopted in place where the buffers fit, and refused where they do not', async () => {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, { ...FULL, phases: [SFT, RL] })
  for (let i = 0; i < 2; i++) await trainer.next()
  const before = await trainer.exportState()
  const inner: RlPhase = { ...RL, target_layer: 1 }
  expect(await trainer.adopt({ ...FULL, phases: [SFT, inner, RL] })).toBe(true)
  expect(await trainer.exportState()).toEqual(before)
  trainer.nextPhase('insert_phase')
  const first = await trainer.next()
  expect(first).toMatchObject({ step: 2, phase: 1, phase_step: 1 })
  expect(first.phase_started).toEqual({ phase: 1, reason: 'insert_phase' })
  const wider = { ...RL, rollout: { ...RL.rollout, train_batch_size: 8 } }
  // The last is trained by Muon, which needs room of its own.
  for (const phase of [wider, PPO, REWARD_MODEL, INNER]) {
    const live = gpu.counts.live_bytes
    expect(await trainer.adopt({ ...FULL, phases: [SFT, inner, RL, phase] })).toBe(false)
    expect(gpu.counts.live_bytes).toBe(live)
    expect(trainer.phases.length).toBe(3)
  }
  // The reference is there already.
  const followed: RlPhase = { ...INNER, actor: { ...INNER.actor, optim: RL.actor.optim } }
  expect(await trainer.adopt({ ...FULL, phases: [SFT, inner, RL, followed] })).toBe(true)
  gpu.destroy()
})

test('a stop condition ends its phase after the step that met it, and the next begins for that reason', async () => {
  const stop = {
    accuracy: null,
    score: null,
    plateau_steps: 2,
    plateau_delta: 10,
    entropy_floor: null,
  }
  const phases: RlPhase[] = [
    { ...RL, steps: 9, stop },
    { ...RL, steps: 9, stop: { ...stop, plateau_steps: null, entropy_floor: 50 } },
    { ...RL, steps: 9, stop: { ...stop, plateau_steps: null, score: 0.01 } },
  ]
  const { results } = await uninterrupted({
    ...CONFIG,
    phases,
    validation: { test_freq: 100, prompts: 10, n: 0 },
  })
  const began = results.flatMap(({ step, phase_started }) =>
    phase_started ? [[step, phase_started.reason]] : [],
  )
  // A plateau of 2 steps needs 4; an entropy below 50 nats needs 1.
  expect(began).toEqual([
    [0, 'start'],
    [5, 'plateau'],
    [6, 'entropy_floor'],
  ])
  const validated = results.filter(({ metrics }) => 'val-aux/parity/acc/greedy' in metrics)
  expect(validated.map(({ step }) => step)).toEqual([0, 4, 5, results.length - 1])
})
