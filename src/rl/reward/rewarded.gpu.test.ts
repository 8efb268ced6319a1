// Reinforcement by a reward model in the real trainer, and the critic that begins as one.
import { expect, test } from 'vitest'
import { modelShape } from '../../model/layout/config.ts'
import { initialWeights, paramLayout, sharedRuns } from '../../model/layout/params.ts'
import type { Task } from '../../tasks/task/task.ts'
import type { RlPhase } from '../config/phase.ts'
import { CONFIG, OPTIM, REWARD_MODEL, RL, SFT } from '../testing.ts'
import { create, finish, REWARDED, rewardPhase, still } from './testing.ts'

test('reinforcement is held to the policy that it began with, whatever stood between', async () => {
  const kl = { ...RL.algorithm, use_kl_in_reward: true }
  const rl: RlPhase = {
    ...REWARDED,
    steps: 4,
    algorithm: kl,
    actor: { ...RL.actor, ppo_epochs: 2 },
  }
  const trainer = await create({ ...CONFIG, phases: [SFT, REWARD_MODEL, rl] })
  const results = await finish(trainer)
  const penalties = results.flatMap(({ metrics }) => metrics['actor/reward_kl_penalty'] ?? [])
  expect(penalties).toHaveLength(4)
  // The same weights on both sides.
  expect(penalties[0]).toBe(0)
  expect(Math.abs(penalties[3])).toBeGreaterThan(1e-4)
  for (const { metrics } of results.slice(-4)) expect(metrics['critic/rewards/mean']).not.toBeNaN()
  trainer.destroy()
})

test.for(process.env.LONG_TESTS ? (['remax', 'gae', 'rloo'] as const) : (['gae'] as const))(
  '%s takes its reward from the reward model',
  async (adv_estimator) => {
    const rl: RlPhase = { ...REWARDED, adv_estimator, steps: 1 }
    const trainer = await create({ ...CONFIG, phases: [rewardPhase({ steps: 1 }), rl] })
    const results = await finish(trainer)
    const { metrics } = results[results.length - 1]
    expect(metrics['critic/score/max']).not.toBe(1)
    expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
    trainer.destroy()
  },
)

/** Demonstrations say 0 and 1 equally often; the judge prefers 1. */
const TWO_ANSWERS: Task = {
  ...CONFIG.task,
  id: 'two_answers',
  sample: (seed, index, split) => ({
    ...CONFIG.task.sample(seed, index, split),
    ground_truth: '1',
    demonstration: `${(seed + (index >> 1)) % 2}`,
  }),
  score: (_, response) => (response === '1' ? 1 : 0),
}

test.skipIf(!process.env.LONG_TESTS)(
  'judge, reward model, reinforcement: the policy learns what the judge prefers without ever seeing its score',
  async () => {
    const kl = { ...RL.algorithm, use_kl_in_reward: true }
    const optim = { ...OPTIM, lr: 5e-3 }
    const trainer = await create({
      ...CONFIG,
      task: TWO_ANSWERS,
      phases: [
        { ...SFT, steps: 36, batch_size: 16, optim: { ...SFT.optim, lr: 8e-3 } },
        rewardPhase({ steps: 30, batch_size: 16, optim }, { count: 48, held_out: 32 }),
        {
          ...REWARDED,
          steps: 22,
          adv_estimator: 'rloo',
          rollout: { ...RL.rollout, train_batch_size: 8 },
          actor: { ...RL.actor, ppo_mini_batch_size: 4, optim },
          algorithm: { ...kl, kl_ctrl: { ...kl.kl_ctrl, kl_coef: 0.1 } },
        },
      ],
      probe: { freq: null, rows: 8 },
    })
    const results = await finish(trainer)
    trainer.destroy()
    const series = (name: string) => results.flatMap(({ metrics }) => metrics[name] ?? [])
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
    const task = series('task/score/mean')
    // 32 held-out pairs on prompts of their own; 2 and 8 steps of 32 responses. Measured: 1, 0.42
    // and
    // 0.89; seeds 2 and 3: 1, 0.58, 0.95 and 0.97, 0.63, 0.97.
    expect(series('reward_model/held_out_accuracy').at(-1)).toBeGreaterThan(0.8)
    expect(mean(task.slice(0, 2))).toBeLessThan(0.65)
    expect(mean(task.slice(-8))).toBeGreaterThan(0.8)
  },
)

test.for(
  process.env.LONG_TESTS ? (['reward_model', 'actor'] as const) : (['reward_model'] as const),
)('a critic begins as the %s', async (init) => {
  const config = { ...CONFIG, phases: [{ ...SFT, steps: 1 }, rewardPhase({}), still(init)] }
  const trainer = await create(config)
  let before = await trainer.exportState()
  while (!trainer.isFinished) {
    await trainer.next()
    if (trainer.phase < 2) before = await trainer.exportState()
  }
  const { critic, reward_model } = await trainer.exportState()
  trainer.destroy()
  if (!critic || !reward_model) throw new Error('expected a critic and a reward model')
  const of = (head: 'lm_head' | 'value_head' | 'reward_head') =>
    paramLayout(modelShape(CONFIG.model), head)
  const layout = of('value_head')
  const isReward = init === 'reward_model'
  const [from, weights] = isReward
    ? [of('reward_head'), reward_model.weights]
    : [of('lm_head'), before.actor.weights]
  for (const { fromOffset, toOffset, count } of sharedRuns(from, layout))
    expect(critic.weights.subarray(toOffset, toOffset + count)).toEqual(
      weights.subarray(fromOffset, fromOffset + count),
    )
  // verl's critic takes the score of a reward model's checkpoint, which has no bias.
  const score = (at: { readonly offset: number } | undefined, flat: Float32Array) =>
    flat.subarray(at?.offset, (at?.offset ?? 0) + CONFIG.model.hidden_size)
  const first = initialWeights(layout, CONFIG.seed)
  const expected = isReward
    ? score(from.slices.score, reward_model.weights)
    : score(layout.slices.score, first)
  expect(score(layout.slices.score, critic.weights)).toEqual(expected)
  expect(expected).not.toEqual(score(layout.slices.score, isReward ? first : reward_model.weights))
  expect(critic.weights[layout.slices.score_bias?.offset ?? -1]).toBe(0)
})
