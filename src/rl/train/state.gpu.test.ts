import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, REWARD_MODEL, RL, SFT } from '../testing.ts'
import type { TrainerState } from './state.ts'
import type { StepResult } from './step_result.ts'
import { Trainer } from './trainer.ts'

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
  actor: { ...RL.actor, shuffle: true },
  critic: {
    ...RL.critic,
    ...{ critic_warmup: 2, ppo_epochs: 2, ppo_mini_batch_size: 4 },
    optim: { ...RL.critic.optim, lr_warmup_steps: -1, lr_warmup_steps_ratio: 0.5 },
  },
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
  // Batches of 8 and of 4: some problems are left out of every pass.
  data: { train_max_samples: 9, shuffle: true },
}

async function uninterrupted(config: TrainerConfig) {
  const trainer = await Trainer.create(await Gpu.open(), config)
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  const state = await trainer.exportState()
  trainer.destroy()
  return { results, state }
}

/** A new trainer that goes on from where one is. */
async function moved(gpu: Gpu, trainer: Trainer): Promise<Trainer> {
  const state: TrainerState = structuredClone(await trainer.exportState())
  gpu.freeAll()
  const other = await Trainer.create(gpu, trainer.config)
  other.importState(state)
  return other
}

/** The run with another trainer at every step, against the run with one. */
async function movedThroughout(config: TrainerConfig) {
  const whole = await uninterrupted(config)
  const gpu = await Gpu.open()
  let trainer = await Trainer.create(gpu, config)
  const results: StepResult[] = []
  while (!trainer.isFinished) {
    results.push(await trainer.next())
    trainer = await moved(gpu, trainer)
  }
  const end = await trainer.exportState()
  gpu.destroy()
  expect(results.map(numbers)).toEqual(whole.results.map(numbers))
  expect(end).toEqual(whole.state)
  return { whole, end }
}

test('a state moved to a new trainer after every step leaves the run as it is, bit for bit', async () => {
  const { whole, end } = await movedThroughout(FULL)
  // The parts are there, and they have been used.
  expect(end.critic?.control.some((x) => x !== 0)).toBe(true)
  expect(end.reference).not.toEqual(end.actor.weights)
  const kl = whole.results.flatMap(({ metrics }) => metrics['actor/reward_kl_penalty_coeff'] ?? [])
  expect(new Set(kl).size).toBeGreaterThan(1)
  const epochs = whole.results.flatMap(({ metrics }) => metrics['training/epoch'] ?? [])
  // A pass per step of 8, two steps of 4; every phase begins with one.
  expect(epochs).toEqual([0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 10, 11, 11])
})

const REWARDED: RlPhase = { ...RL, steps: 2, reward_model: { enable: true } }
/** A reward model taught by the task and by recorded verdicts, its reward, groups that are filtered, and a second reward model. */
const TAUGHT: TrainerConfig = {
  ...CONFIG,
  model: { ...CONFIG.model, tie_word_embeddings: false },
  phases: [
    { ...SFT, steps: 1 },
    {
      ...REWARD_MODEL,
      steps: 4,
      pairs: {
        ...REWARD_MODEL.pairs,
        source: 'mixed',
        count: 6,
        held_out: 3,
        verdicts: [
          { choice: 'a', step: 0 },
          { choice: 'skip', step: 0 },
          { choice: 'b', step: 0 },
          { choice: 'undo', step: 2 },
          { choice: 'a', step: 3 },
        ],
      },
    },
    REWARDED,
    {
      ...REWARDED,
      name: 'filtered',
      target_layer: 2,
      target_readout: 'normed',
      reset_optimizer: true,
      algorithm: {
        ...RL.algorithm,
        filter_groups: { enable: true, metric: 'acc', max_num_gen_batches: 3 },
      },
    },
    { ...REWARD_MODEL, steps: 2 },
    { ...REWARDED, steps: 1 },
    {
      ...REWARDED,
      name: 'with a critic that began as the reward model',
      adv_estimator: 'gae',
      critic: { ...RL.critic, model: { init: 'reward_model' } },
      algorithm: { ...RL.algorithm, use_kl_in_reward: true, kl_at_last_token: true },
    },
  ],
}

test('a reward model, what it was taught, its reward and filtered groups move along', async () => {
  const { whole, end } = await movedThroughout(TAUGHT)
  const of = (name: string) => whole.results.flatMap(({ metrics }) => metrics[name] ?? [])
  expect(of('reward_model/loss')).toHaveLength(6)
  expect(of('reward_model/human_pairs').slice(0, 4)).toEqual([2, 2, 1, 2])
  expect(of('task/score/mean')).toHaveLength(7)
  expect(of('critic/vf_loss')).toHaveLength(2)
  expect(of('train/num_gen_batches').some((batches) => batches > 1)).toBe(true)
  expect(end.pairs_of).toBe(4)
  expect(end.reward_model?.control.some((x) => x !== 0)).toBe(true)
  // Embedding, head, three blocks and the final norm have a step count each.
  expect(end.actor.corrections).toHaveLength(2 * 6)
})

test('a phase that waits for a person goes on in a new trainer with the same pairs and verdicts', async () => {
  const asking = {
    ...REWARD_MODEL,
    steps: 2,
    pairs: { ...REWARD_MODEL.pairs, source: 'human' as const, min_pairs: 4 },
  }
  const config: TrainerConfig = { ...CONFIG, phases: [SFT, asking, REWARDED] }
  const play = async (move: boolean) => {
    const gpu = await Gpu.open()
    let trainer = await Trainer.create(gpu, config)
    const moveOn = async () => {
      if (move) trainer = await moved(gpu, trainer)
    }
    const results: StepResult[] = []
    for (let i = 0; i <= SFT.steps; i++) results.push(await trainer.next())
    expect(await trainer.ready()).toBe(false)
    await moveOn()
    const { pending } = trainer.preferences ?? { pending: [] }
    trainer.decide(0, 'a')
    trainer.decide(1, 'skip')
    trainer.decide(2, 'b')
    await moveOn()
    expect(trainer.isWaiting).toBe(true)
    await expect(trainer.queue()).rejects.toThrow('waits for verdicts')
    trainer.decide(3, 'a')
    expect(trainer.isWaiting).toBe(true)
    trainer.decide(4, 'b')
    await moveOn()
    expect(trainer.isWaiting).toBe(false)
    results.push(await trainer.next())
    // What was said is taken back, after a step that was taught it.
    trainer.undoVerdict()
    await moveOn()
    trainer.decide(4, 'a')
    while (!trainer.isFinished) {
      await moveOn()
      results.push(await trainer.next())
    }
    const state = await trainer.exportState()
    gpu.destroy()
    return { results: results.map(numbers), state, pending }
  }
  const [whole, parts] = [await play(false), await play(true)]
  expect(parts).toEqual(whole)
  const began = whole.results.flatMap(({ step, phase_started: p }) => (p ? [[step, p.phase]] : []))
  expect(began).toEqual([
    [0, 0],
    [SFT.steps + 1, 1],
    [SFT.steps + 3, 2],
  ])
  expect(whole.state.reward_model?.preferences?.log.map(({ choice }) => choice).join(' ')).toBe(
    'a skip b a b undo a',
  )
})

test('a state whose reward model lacks a part is told from the whole one', async () => {
  const gpu = await Gpu.open()
  const config: TrainerConfig = { ...CONFIG, phases: [{ ...REWARD_MODEL, steps: 9 }] }
  const trainer = await Trainer.create(gpu, config)
  for (let i = 0; i < 3; i++) await trainer.next()
  const state = await trainer.exportState()
  const { reward_model } = state
  const preferences = reward_model?.preferences
  if (!reward_model || !preferences) throw new Error('no reward model')
  const replay = async (change: Partial<typeof reward_model>) => {
    trainer.importState({ ...state, reward_model: { ...reward_model, ...change } })
    // Moments show one step later.
    return [numbers(await trainer.next()), numbers(await trainer.next())]
  }
  const right = await replay({})
  expect(await replay({})).toEqual(right)
  const flat = (part: 'weights' | 'adam_m' | 'adam_v' | 'corrections') => ({
    [part]: reward_model[part].map(() => 0.5),
  })
  for (const part of ['weights', 'adam_m', 'adam_v', 'corrections'] as const)
    expect(await replay(flat(part)), part).not.toEqual(right)
  const { queue, passes, judged } = preferences
  for (const change of [
    { queue: [...queue].reverse() },
    { passes: passes + 1 },
    { judged: [...judged].reverse() },
  ])
    expect(
      await replay({ preferences: { ...preferences, ...change } }),
      Object.keys(change)[0],
    ).not.toEqual(right)
  expect(() => trainer.importState({ ...state, pairs_of: null })).toThrow(
    'state pairs_of: expected the index of a reward_model phase, got null',
  )
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
    // One pass over the training set more.
    { ...state, sample_index: state.sample_index + 9 },
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
  for (const phase of [wider, PPO, REWARD_MODEL]) {
    const live = gpu.counts.live_bytes
    expect(await trainer.adopt({ ...FULL, phases: [SFT, inner, RL, phase] })).toBe(false)
    expect(gpu.counts.live_bytes).toBe(live)
    expect(trainer.phases.length).toBe(3)
  }
  // The reference is there already.
  expect(await trainer.adopt({ ...FULL, phases: [SFT, inner, RL, INNER] })).toBe(true)
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

test('a state that is awaited later is that of its own step, however many were queued since', async () => {
  for (const config of [FULL, TAUGHT]) {
    const whole = await uninterrupted(config)
    const gpu = await Gpu.open()
    const trainer = await Trainer.create(gpu, config)
    const exports: Promise<TrainerState>[] = []
    // Nothing is awaited that a running lab would not await.
    while (!trainer.isFinished) {
      await trainer.queue()
      exports.push(trainer.exportState())
    }
    const states = await Promise.all(exports)
    expect(states.map(({ step }) => step)).toEqual(whole.results.map(({ step }) => step))
    expect(states.at(-1)).toEqual(whole.state)
    // Four steps of each, begun in a trainer that has been elsewhere since.
    for (const from of [0, 2, 5, states.length - 2]) {
      trainer.importState(structuredClone(states[from]))
      const again = [numbers(await trainer.next())]
      if (!trainer.isFinished) again.push(numbers(await trainer.next()))
      expect(again).toEqual(whole.results.slice(from + 1, from + 1 + again.length).map(numbers))
    }
    gpu.destroy()
  }
})
