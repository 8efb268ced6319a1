// A run whose state moves to a new trainer after every step: the bits of one that was left alone.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { unpackWeights } from '../../../model/layout/params.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { CONFIG, REWARD_MODEL, RL, SFT } from '../../testing.ts'
import type { StepResult } from '../parts/step_result.ts'
import type { TrainerState } from '../state.ts'
import { Trainer } from '../trainer.ts'
import { FULL, numbers, uninterrupted, type Whole } from './testing.ts'

/** A new trainer that continues from where one is. */
async function moved(gpu: Gpu, trainer: Trainer): Promise<Trainer> {
  const state: TrainerState = structuredClone(await trainer.exportState())
  gpu.freeAll()
  const other = await Trainer.create(gpu, trainer.config)
  other.importState(state)
  return other
}

/** The run with another trainer at every step, against the run with one. */
async function movedThroughout(config: TrainerConfig, whole: Whole) {
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
  return end
}

const full = uninterrupted(FULL)

test('a state moved to a new trainer after every step leaves the run as it is, bit for bit', async () => {
  const whole = await full
  const end = await movedThroughout(FULL, whole)
  // The parts are there, and they have been used.
  expect(end.critic?.control.some((x) => x !== 0)).toBe(true)
  expect(end.reference).not.toEqual(end.actor.weights)
  const kl = whole.results.flatMap(({ metrics }) => metrics['actor/reward_kl_penalty_coeff'] ?? [])
  expect(new Set(kl).size).toBeGreaterThan(1)
  const epochs = whole.results.flatMap(({ metrics }) => metrics['training/epoch'] ?? [])
  // A pass per step of 8, two steps of 4; every phase begins with one.
  expect(epochs).toEqual([0, 1, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 10])
})

const REWARDED: RlPhase = { ...RL, steps: 2, reward_model: { enable: true } }
/** A reward model taught by the task and by recorded verdicts, its reward, groups that are
 * filtered, and a second reward model. */
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
    { ...REWARD_MODEL, steps: 2, optim: { ...REWARD_MODEL.optim, optimizer: 'Muon' } },
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

const taught = uninterrupted(TAUGHT)

test.skipIf(!process.env.LONG_TESTS)(
  'a reward model, what it was taught, its reward and filtered groups move along',
  async () => {
    const whole = await taught
    const end = await movedThroughout(TAUGHT, whole)
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
  },
)

test('a curriculum, problems that are left out and samples that wait move along', async () => {
  const curriculum = { param: 'any', start: 1, advance_at: 0 }
  const config: TrainerConfig = {
    ...CONFIG,
    phases: [{ ...RL, steps: 5, rollout: { ...RL.rollout, staleness: 1 } }],
    data: {
      train_max_samples: 9,
      shuffle: true,
      curriculum,
      admission: { min_rate: 0.3, max_rate: 0.7, retry_epochs: 1 },
    },
    levels: [1, 2, 3].map((value) => ({ value, task: CONFIG.task })),
  }
  const whole = await uninterrupted(config)
  await movedThroughout(config, whole)
  const of = (name: string) => whole.results.flatMap(({ metrics }) => metrics[name] ?? [])
  expect(of('curriculum/value')).toEqual([1, 1, 2, 2, 3])
  expect(of('curriculum/admitted').some((share) => share < 1)).toBe(true)
})

test.skipIf(!process.env.LONG_TESTS)(
  'a translator that a phase reads its layer through moves along, and stays as it was fitted',
  async () => {
    const actor = { ...RL.actor, use_kl_loss: true }
    const config: TrainerConfig = {
      ...CONFIG,
      phases: [
        SFT,
        { ...RL, steps: 2, target_layer: 2, target_readout: 'tuned', actor },
        { ...RL, steps: 2, target_layer: 1, target_readout: 'jacobian' },
        { ...RL, steps: 1 },
      ],
    }
    const whole = await uninterrupted(config)
    await movedThroughout(config, whole)
    const fitted = whole.results.map(({ metrics }) => metrics['lens/kl_after'] !== undefined)
    expect(fitted).toEqual([false, false, false, false, true, false, true, false, false])
    const of = (name: string) => whole.results.flatMap(({ metrics }) => metrics[name] ?? [])
    // Of the tuned lens, on rows that it was not fitted on.
    expect(of('lens/kl_after')[0]).toBeLessThan(0.8 * of('lens/kl_before')[0])
    // The last phase reads through none.
    expect(whole.state.lens).toBeUndefined()
    const trainer = await Trainer.create(await Gpu.open(), config)
    for (let i = 0; i <= 4; i++) await trainer.next()
    const begun = await trainer.exportState()
    await trainer.next()
    const { lens, actor: learned } = await trainer.exportState()
    trainer.destroy()
    expect(lens).toMatchObject([{ layer: 2, readout: 'tuned' }])
    expect(lens).toEqual(begun.lens)
    // Blocks above the layer rest; what lies below and the final norm learn.
    const named = (flat: Float32Array) => unpackWeights(trainer.layout, flat)
    const [before, after] = [named(begun.actor.weights), named(learned.weights)]
    for (const name of Object.keys(before)) {
      const rests = name.startsWith('model.layers.2.')
      expect(
        after[name].every((x, i) => x === before[name][i]),
        name,
      ).toBe(rests)
    }
  },
)

test.skipIf(!process.env.LONG_TESTS)(
  'an inner phase that reads through a tuned lens learns',
  async () => {
    const optim = { ...RL.actor.optim, lr: 0.01 }
    const config: TrainerConfig = {
      ...CONFIG,
      phases: [
        { ...SFT, steps: 12, optim: { ...SFT.optim, lr: 0.015 } },
        {
          ...RL,
          steps: 24,
          target_layer: 2,
          target_readout: 'tuned',
          actor: { ...RL.actor, optim },
        },
      ],
    }
    const { results } = await uninterrupted(config)
    const scores = results.flatMap(({ metrics }) => metrics['critic/score/mean'] ?? [])
    const mean = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length
    expect(mean(scores.slice(-6))).toBeGreaterThan(mean(scores.slice(0, 6)) + 0.15)
  },
)

test('a phase that waits for a person continues in a new trainer with the same pairs and verdicts', async () => {
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
  expect(whole.state.preferences?.log.map(({ choice }) => choice).join(' ')).toBe(
    'a skip b a b undo a',
  )
})

// The first test moves a state between any two steps; here it is awaited when later steps are
// queued.
test.runIf(process.env.LONG_TESTS)(
  'a state that is awaited later is that of its own step',
  async () => {
    for (const [config, whole] of [
      [FULL, await full],
      [TAUGHT, await taught],
    ] as const) {
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
      // Begun in a trainer that has been elsewhere since.
      for (const from of [0, 5, states.length - 2]) {
        trainer.importState(structuredClone(states[from]))
        const again = [numbers(await trainer.next())]
        if (!trainer.isFinished) again.push(numbers(await trainer.next()))
        expect(again).toEqual(whole.results.slice(from + 1, from + 1 + again.length).map(numbers))
      }
      gpu.destroy()
    }
  },
)
