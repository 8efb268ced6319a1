// Every part of a state counts: a run that continues without one is another run.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { CONFIG, REWARD_MODEL } from '../../testing.ts'
import type { TrainerState } from '../state.ts'
import { Trainer } from '../trainer.ts'
import { FULL, numbers, PPO } from './testing.ts'

test.skipIf(!process.env.LONG_TESTS)(
  'a state whose reward model lacks a part differs from the whole one',
  async () => {
    const gpu = await Gpu.open()
    const config: TrainerConfig = { ...CONFIG, phases: [{ ...REWARD_MODEL, steps: 9 }] }
    const trainer = await Trainer.create(gpu, config)
    for (let i = 0; i < 3; i++) await trainer.next()
    const state = await trainer.exportState()
    const { reward_model, preferences } = state
    if (!reward_model || !preferences) throw new Error('no reward model')
    const replay = async (change: Partial<typeof reward_model>, pairs = preferences) => {
      const model = { ...reward_model, ...change }
      trainer.importState({ ...state, reward_model: model, preferences: pairs })
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
      expect(await replay({}, { ...preferences, ...change }), Object.keys(change)[0]).not.toEqual(
        right,
      )
    expect(() => trainer.importState({ ...state, pairs_of: null })).toThrow(
      'state pairs_of: expected the index of a reward_model or preference phase, got null',
    )
    gpu.destroy()
  },
)

test('a state that lacks a part differs from the whole one', async () => {
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
  const right = (await trainer.exportState()).actor.weights
  const blank = (
    model: TrainerState['actor'],
    part: Exclude<keyof TrainerState['actor'], 'adapter'>,
  ) => ({
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
