// Runs of small experiments for tests of the trainer.
import { Gpu } from '../../kernels/device/gpu.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import type { StepResult } from './parts/step_result.ts'
import { Trainer } from './trainer.ts'

export const open = () => Gpu.open()

/** A whole run on a device of its own. */
export async function train(config: TrainerConfig) {
  const trainer = await Trainer.create(await open(), config)
  const done = await finish(trainer)
  trainer.destroy()
  return done
}

/** Takes all steps that are left. */
export async function finish(trainer: Trainer) {
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  return { results, weights: await trainer.exportWeights() }
}

/** Everything but wall times and what they decide. */
export const numbers = (results: readonly StepResult[]) =>
  results.map(({ metrics }) =>
    Object.fromEntries(
      Object.entries(metrics).filter(
        ([name]) =>
          !/^timing_|^perf\/(time_per_step|throughput|submits|longest_dispatch_ms|split_dispatches)$/.test(
            name,
          ),
      ),
    ),
  )

export const INNER: RlPhase = { ...RL, name: 'inner', target_layer: 2 }
export const BUPO: TrainerConfig = {
  ...CONFIG,
  phases: [SFT, INNER, RL],
  validation: { test_freq: 2, prompts: 10, n: 2 },
}

export const PPO: RlPhase = {
  ...RL,
  name: 'ppo',
  steps: 4,
  adv_estimator: 'gae',
  actor: { ...RL.actor, ppo_epochs: 2 },
  algorithm: { ...RL.algorithm, lam: 0.95 },
}
/** The small experiment with these phases alone. */
export const only = (...phases: TrainerConfig['phases']): TrainerConfig => ({ ...CONFIG, phases })
/** The small phase of reinforcement with these changes. */
export const rl = (
  change: Partial<RlPhase>,
  algorithm: Partial<RlPhase['algorithm']> = {},
  actor: Partial<RlPhase['actor']> = {},
): RlPhase => ({
  ...RL,
  steps: 2,
  ...change,
  algorithm: { ...RL.algorithm, ...algorithm },
  actor: { ...RL.actor, ...actor },
})
export const corrected = (change: Partial<RlPhase['algorithm']['rollout_correction']>) => ({
  rollout_correction: { ...RL.algorithm.rollout_correction, ...change },
})
/** One optimizer step per training step: at a ratio of 1 the loss is known. */
export const ONE_UPDATE = { ppo_mini_batch_size: 4 }
/** The steps of reinforcement. */
export const rlSteps = (results: readonly StepResult[]) =>
  results.filter(({ samples }) => samples.length)

/** A device with weights whose responses now and then end, and then have scores of both kinds:
 * fresh ones seldom do. */
export async function warmStart() {
  const { weights: WARM } = await train(
    only({ ...SFT, steps: 18, optim: { ...SFT.optim, lr: 0.015 } }),
  )
  /** The runs share a device, which has then compiled most of what the next one needs. */
  const shared = await open()
  const warm = async (config: TrainerConfig) => {
    const trainer = await Trainer.create(shared, config)
    trainer.importWeights(WARM)
    return finish(trainer)
  }
  return { WARM, shared, warm }
}
