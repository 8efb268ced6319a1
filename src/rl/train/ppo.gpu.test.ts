// PPO in the trainer: the critic, its warm-up, and the KL to the reference.
import { expect, test } from 'vitest'
import { SFT } from '../testing.ts'
import { ONE_UPDATE, only, open, PPO, rl, rlSteps, warmStart } from './testing.ts'
import { Trainer } from './trainer.ts'

const { warm } = await warmStart()

test("PPO reports the critic's metrics under verl's names, and 2 epochs of 2 mini-batches", async () => {
  const { results } = await warm(only({ ...PPO, steps: 2 }))
  for (const { metrics } of results.slice(1)) {
    for (const name of ['vf_loss', 'vf_clipfrac', 'vpred_mean', 'grad_norm', 'lr'])
      expect(metrics[`critic/${name}`], name).toEqual(expect.any(Number))
    for (const name of ['values', 'returns', 'advantages'])
      for (const of of ['mean', 'max', 'min'])
        expect(metrics[`critic/${name}/${of}`], name).toEqual(expect.any(Number))
    expect(metrics['critic/vf_explained_var']).toBeLessThanOrEqual(1)
    expect(metrics['critic/vf_loss']).toBeGreaterThan(0)
    expect(metrics['critic/grad_norm']).toBeGreaterThan(0)
    // Whitened over the batch's tokens.
    expect(metrics['critic/advantages/mean']).toBeCloseTo(0, 6)
    expect(metrics['actor/pg_clipfrac']).toBeGreaterThanOrEqual(0)
  }
})

test('in warm-up steps the critic learns and the policy stays bit for bit', async () => {
  // verl's rule: the actor learns from step critic_warmup on.
  const run = async (lr: number) => {
    const critic = { ...PPO.critic, critic_warmup: 3, optim: { ...PPO.critic.optim, lr } }
    const trainer = await Trainer.create(await open(), only({ ...PPO, critic }))
    const start = await trainer.exportWeights()
    const results = [await trainer.next()]
    const moved: boolean[] = []
    for (let step = 1; step <= 4; step++) {
      const before = await trainer.exportWeights()
      results.push(await trainer.next())
      const after = await trainer.exportWeights()
      moved.push(after.some((w, i) => w !== before[i]))
      if (step === 2) expect(after).toEqual(start)
    }
    trainer.destroy()
    return { results: results.slice(1), moved }
  }
  const [still, learning] = [await run(0), await run(0.02)]
  for (const { results, moved } of [still, learning]) {
    expect(moved).toEqual([false, false, true, true])
    expect(results.map(({ metrics }) => 'actor/pg_loss' in metrics)).toEqual(moved)
    expect(results.map(({ metrics }) => 'actor/lr' in metrics)).toEqual(moved)
    expect(results.every(({ metrics }) => metrics['training/skipped_updates'] === 0)).toBe(true)
  }
  // Up to the first actor update both runs sample the same; only the critics differ, from their
  // first update on.
  for (const i of [0, 1, 2]) {
    const [a, b] = [still.results[i], learning.results[i]]
    expect(a.samples.map((s) => s.response)).toEqual(b.samples.map((s) => s.response))
    const values = [a, b].map(({ metrics }) => metrics['critic/values/mean'])
    if (i === 0) expect(values[1]).toBe(values[0])
    else expect(Math.abs(values[1] - values[0])).toBeGreaterThan(1e-3)
  }
})

test('the critic begins as the policy is when it is first asked', async () => {
  const trainer = await Trainer.create(await open(), only({ ...PPO, steps: 1 }))
  const weights = (await trainer.exportWeights()).slice()
  // With a final norm of 0 every state is 0, and so is every value: of fresh weights they are not.
  const { offset, shape } = trainer.layout.slices.norm
  trainer.importWeights(weights.fill(0, offset, offset + shape[0]))
  await trainer.next()
  const { metrics } = await trainer.next()
  expect([metrics['critic/values/min'], metrics['critic/values/max']]).toEqual([0, 0])
  trainer.destroy()
})

test('KL in the loss and in the reward: 0 at first, then not, and the coefficient follows it', async () => {
  const kl = rl(
    { steps: 3 },
    {
      use_kl_in_reward: true,
      kl_penalty: 'k2',
      kl_ctrl: { type: 'adaptive', kl_coef: 0.1, horizon: 160, target_kl: 0.5 },
    },
    { ...ONE_UPDATE, use_kl_loss: true, kl_loss_coef: 0.2, kl_loss_type: 'k2' },
  )
  // After a warm start the reference is what it left behind.
  for (const phases of [[kl], [SFT, kl]]) {
    const { results } = await warm(only(...phases))
    const [first, second, third] = rlSteps(results).map(({ metrics }) => metrics)
    expect(first['actor/kl_loss']).toBe(0)
    expect(first['actor/reward_kl_penalty']).toBe(0)
    expect(first['actor/reward_kl_penalty_coeff']).toBe(0.1)
    for (const metrics of [second, third]) {
      expect(metrics['actor/kl_loss']).toBeGreaterThan(0)
      expect(metrics['actor/reward_kl_penalty']).toBeGreaterThan(0)
      expect(metrics['actor/kl_coef']).toBe(0.2)
      expect(metrics['critic/rewards/mean']).toBeLessThan(metrics['critic/score/mean'])
    }
    expect(first['critic/rewards/mean']).toBe(first['critic/score/mean'])
    // Far below the target, so down by a fifth of 16 / horizon each time.
    expect(second['actor/reward_kl_penalty_coeff']).toBeCloseTo(0.1 * 0.98, 12)
    expect(third['actor/reward_kl_penalty_coeff']).toBeCloseTo(0.1 * 0.98 ** 2, 12)
  }
})

test('the reference of imported weights is those weights', async () => {
  const phase = rl({}, {}, { ...ONE_UPDATE, use_kl_loss: true })
  const trainer = await Trainer.create(await open(), only(phase, PPO))
  trainer.importWeights((await trainer.exportWeights()).map((w) => w * 1.3))
  await trainer.next()
  const { metrics } = await trainer.next()
  expect(metrics['actor/kl_loss']).toBe(0)
  trainer.destroy()
})

test('the critic warms up when it first appears in a stage, and the stage after a warm start begins with a new one', async () => {
  const critic = { ...PPO.critic, critic_warmup: 2 }
  const kl = { ...ONE_UPDATE, use_kl_loss: true }
  const late = { ...PPO, steps: 2, critic, actor: { ...PPO.actor, ...kl, ppo_epochs: 1 } }
  const grpo = rl({ steps: 2 }, {}, kl)
  const { results } = await warm(only(grpo, late, { ...SFT, steps: 1 }, late))
  const steps = results.slice(1)
  expect(steps.map(({ metrics }) => 'actor/pg_loss' in metrics)).toEqual([
    true,
    true,
    false,
    true,
    false,
    false,
    true,
  ])
  expect(steps.map(({ metrics }) => 'critic/vf_loss' in metrics)).toEqual([
    false,
    false,
    true,
    true,
    false,
    true,
    true,
  ])
  // The second stage's reference is the policy after the second warm start, which its critic left
  // alone for one step.
  expect(steps[3].metrics['actor/kl_loss']).toBeGreaterThan(0)
  expect(steps[6].metrics['actor/kl_loss']).toBe(0)
})
