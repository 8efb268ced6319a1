import { expect, test } from 'vitest'
import { Gpu } from '../kernels/gpu.ts'
import type { RlPhase } from './phase.ts'
import type { TrainerState } from './state.ts'
import { CONFIG, RL, SFT } from './testing.ts'
import { type StepResult, Trainer, type TrainerConfig } from './trainer.ts'

const numbers = ({ metrics, samples, ...position }: StepResult) => ({
  ...position,
  samples,
  metrics: Object.fromEntries(
    Object.entries(metrics).filter(
      ([name]) => !/^timing_|^perf\/|^training\/global_step$/.test(name),
    ),
  ),
})

const INNER: RlPhase = {
  ...RL,
  name: 'inner',
  target_layer: 2,
  actor: { ...RL.actor, use_kl_loss: true, kl_loss_coef: 0.05 },
}
const PPO: RlPhase = {
  ...RL,
  name: 'ppo',
  adv_estimator: 'gae',
  critic: { ...RL.critic, critic_warmup: 2 },
  algorithm: {
    ...RL.algorithm,
    lam: 0.9,
    use_kl_in_reward: true,
    kl_ctrl: { type: 'adaptive', kl_coef: 0.2, target_kl: 0.001, horizon: 50 },
  },
}
const CORRECTED: RlPhase = {
  ...RL,
  name: 'corrected',
  algorithm: {
    ...RL.algorithm,
    rollout_correction: { ...RL.algorithm.rollout_correction, rollout_is: 'token' },
  },
}
/** Every kind of state: moments, a reference, a critic, an adaptive coefficient, importance weights, a cosine. */
const FULL: TrainerConfig = {
  ...CONFIG,
  phases: [
    SFT,
    INNER,
    PPO,
    CORRECTED,
    { ...SFT, steps: 2, optim: { ...SFT.optim, lr_scheduler_type: 'cosine', lr_warmup_steps: 1 } },
    { ...RL, steps: 2 },
  ],
  validation: { test_freq: 2, prompts: 10, n: 1 },
}

async function uninterrupted(config: TrainerConfig) {
  const trainer = await Trainer.create(await Gpu.open(), config)
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  const state = await trainer.exportState()
  trainer.destroy()
  return { results, state }
}

test('a state moved to a new trainer after every step leaves the run as it is, bit for bit', async () => {
  const whole = await uninterrupted(FULL)
  const gpu = await Gpu.open()
  let trainer = await Trainer.create(gpu, FULL)
  const results: StepResult[] = []
  while (!trainer.isFinished) {
    results.push(await trainer.next())
    const state: TrainerState = structuredClone(await trainer.exportState())
    gpu.freeAll()
    trainer = await Trainer.create(gpu, FULL)
    trainer.importState(state)
  }
  expect(results.map(numbers)).toEqual(whole.results.map(numbers))
  const end = await trainer.exportState()
  expect(end).toEqual(whole.state)
  // The parts are there, and they have been used.
  expect(end.critic?.control.some((x) => x !== 0)).toBe(true)
  expect(end.reference).not.toEqual(end.actor.weights)
  const kl = whole.results.flatMap(({ metrics }) => metrics['actor/reward_kl_penalty_coeff'] ?? [])
  expect(new Set(kl).size).toBeGreaterThan(1)
  gpu.destroy()
})

test('a state that lacks a part is told from the whole one', async () => {
  const gpu = await Gpu.open()
  const config = { ...FULL, phases: [PPO] }
  const trainer = await Trainer.create(gpu, config)
  for (let i = 0; i < 3; i++) await trainer.next()
  const state = await trainer.exportState()
  const third = numbers(await trainer.next())
  const replay = async (changed: TrainerState) => {
    trainer.importState(changed)
    return numbers(await trainer.next())
  }
  expect(await replay(state)).toEqual(third)
  const blank = (model: TrainerState['actor'], part: keyof TrainerState['actor']) => ({
    ...model,
    [part]: model[part].map(() => 0.5),
  })
  const { critic } = state
  if (!critic) throw new Error('no critic')
  const changes: TrainerState[] = [
    { ...state, sample_index: state.sample_index + 1 },
    { ...state, kl_coef: 0.1 },
    { ...state, step: state.step + 1 },
    { ...state, reference: state.actor.weights },
    { ...state, critic: blank(critic, 'weights') },
    { ...state, critic_step: 0 },
  ]
  for (const changed of changes) expect(await replay(changed)).not.toEqual(third)
  // Moments and step counts show in the weights that the step leaves.
  for (const part of ['adam_m', 'adam_v', 'corrections'] as const) {
    trainer.importState(state)
    await trainer.next()
    const right = (await trainer.exportState()).actor.weights
    trainer.importState({ ...state, actor: blank(state.actor, part) })
    await trainer.next()
    expect((await trainer.exportState()).actor.weights, part).not.toEqual(right)
  }
  expect(() =>
    trainer.importState({ ...state, actor: { ...state.actor, adam_m: new Float32Array(3) } }),
  ).toThrow(/state actor\.adam_m: expected \d+ values, got 3/)
  expect(() => trainer.importState({ ...state, phase: 1 })).toThrow('state phase: expected below 1')
  gpu.destroy()
})

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
  for (const phase of [wider, PPO, INNER]) {
    const live = gpu.counts.live_bytes
    expect(await trainer.adopt({ ...FULL, phases: [SFT, inner, RL, phase] })).toBe(false)
    expect(gpu.counts.live_bytes).toBe(live)
    expect(trainer.phases.length).toBe(3)
  }
  gpu.destroy()
})

test('a stop condition ends its phase after the step that met it, and the next begins for that reason', async () => {
  const stop = { accuracy: 0, score: 0, plateau_steps: 2, plateau_delta: 10, entropy_floor: 0 }
  const phases: RlPhase[] = [
    { ...RL, steps: 9, stop },
    { ...RL, steps: 9, stop: { ...stop, plateau_steps: 0, entropy_floor: 50 } },
    { ...RL, steps: 9, stop: { ...stop, plateau_steps: 0, score: 0.01 } },
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
