// Runs with every kind of state, for tests of trainers that continue from another one's.
import { Gpu } from '../../../kernels/device/gpu.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { CONFIG, RL, SFT } from '../../testing.ts'
import type { StepResult } from '../parts/step_result.ts'
import { Trainer } from '../trainer.ts'

export const numbers = ({ metrics, samples, ...position }: StepResult) => ({
  ...position,
  samples,
  metrics: Object.fromEntries(
    Object.entries(metrics).filter(
      ([name]) => !/^timing_|^perf\/|^training\/global_step$/.test(name),
    ),
  ),
})

export const INNER: RlPhase = {
  ...RL,
  name: 'inner',
  target_layer: 2,
  actor: {
    ...RL.actor,
    use_kl_loss: true,
    kl_loss_coef: 0.05,
    sync_ref_model: true,
    ref_model_sync_steps: 3,
    optim: { ...RL.actor.optim, optimizer: 'Muon' },
  },
}
export const PPO: RlPhase = {
  ...RL,
  name: 'ppo',
  adv_estimator: 'gae',
  actor: { ...RL.actor, shuffle: true },
  critic: {
    ...RL.critic,
    critic_warmup: 2,
    ppo_epochs: 2,
    ppo_mini_batch_size: 4,
    optim: { ...RL.critic.optim, lr_warmup_steps: null, lr_warmup_steps_ratio: 0.5 },
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
  actor: {
    ...RL.actor,
    use_adaptive_entropy: true,
    entropy_coeff: 0.1,
    entropy_target: 9,
    entropy_coef_delta: 0.05,
  },
  rollout: { ...RL.rollout, staleness: 1, stale_fraction: 0.5 },
  algorithm: {
    ...RL.algorithm,
    rollout_correction: { ...RL.algorithm.rollout_correction, rollout_is: 'token' },
  },
}
/** Every kind of state: moments of both optimizers, a reference that follows, a critic, adaptive
 * coefficients, importance weights, samples that wait, a cosine. */
export const FULL: TrainerConfig = {
  ...CONFIG,
  phases: [
    SFT,
    { ...INNER, steps: 2 },
    PPO,
    { ...CORRECTED, steps: 3 },
    { ...SFT, steps: 2, optim: { ...SFT.optim, lr_scheduler_type: 'cosine', lr_warmup_steps: 1 } },
    { ...RL, steps: 2 },
  ],
  validation: { test_freq: 2, prompts: 10, n: 1 },
  // Batches of 8 and of 4: some problems are left out of every pass.
  data: { train_max_samples: 9, shuffle: true },
}

export async function uninterrupted(config: TrainerConfig) {
  const trainer = await Trainer.create(await Gpu.open(), config)
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  const state = await trainer.exportState()
  trainer.destroy()
  return { results, state }
}

export type Whole = Awaited<ReturnType<typeof uninterrupted>>
