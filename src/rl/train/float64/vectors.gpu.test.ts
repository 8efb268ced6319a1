// Steering vectors in the real trainer: steps of every kind of reinforcement follow float64, and
// the model's own weights keep their bits.
import { expect, test } from 'vitest'
import { CONFIG } from '../../testing.ts'
import { BASE, changes, followAll, phaseOf } from './testing.ts'

const { num_hidden_layers: L } = CONFIG.model
const ALL = { layers: null }
const KL = { use_kl_loss: true, kl_loss_coef: 0.5, kl_loss_type: 'low_var_kl' as const }

test('GRPO with a KL to the model without them', async () => {
  const { truth } = await followAll([phaseOf({ steps: 2 }, KL)], 0, ALL)
  expect(truth[1]['actor/kl_loss']).toBeGreaterThan(1e-4)
})

test('PPO: the critic is a whole model of its own', async () => {
  const gae = { adv_estimator: 'gae', steps: 2 } as const
  const followed = await followAll([phaseOf(gae, { ppo_epochs: 2 })], 0, { layers: [0, L] })
  expect(Math.min(...changes(followed, 'critic/grad_norm'))).toBeGreaterThan(0)
})

test('an inner phase, then the whole model, with a bonus for entropy', async () => {
  const inner = phaseOf({ target_layer: 2 }, { entropy_coeff: 0.02 })
  await followAll([inner, { ...BASE, actor: inner.actor }], 0, { layers: [1, 2, L] })
})

test.skipIf(!process.env.LONG_TESTS).for(['rloo', 'reinforce_plus_plus', 'remax'] as const)(
  '%s',
  async (adv_estimator) => {
    await followAll([phaseOf({ adv_estimator, steps: 2 })], 0, ALL)
  },
)
