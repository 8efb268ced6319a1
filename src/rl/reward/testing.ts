// Makes phases with a reward model, and runs of them, for tests.
import { Gpu } from '../../kernels/device/gpu.ts'
import type { Pairs, RewardModelPhase, RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { REWARD_MODEL, RL } from '../testing.ts'
import type { StepResult } from '../train/parts/step_result.ts'
import { Trainer } from '../train/trainer.ts'

export const REWARDED: RlPhase = { ...RL, reward_model: { enable: true } }
/** A critic that learns nothing, so that it stays as it began. */
export const still = (init: 'actor' | 'reward_model'): RlPhase => ({
  ...REWARDED,
  steps: 2,
  adv_estimator: 'gae',
  critic: { ...RL.critic, model: { init }, optim: { ...RL.critic.optim, lr: 0 } },
})

export const rewardPhase = (
  change: Partial<RewardModelPhase>,
  pairs: Partial<Pairs> = {},
): RewardModelPhase => ({
  ...REWARD_MODEL,
  ...change,
  pairs: { ...REWARD_MODEL.pairs, ...pairs },
})

export const create = async (config: TrainerConfig) => Trainer.create(await Gpu.open(), config)

export async function finish(trainer: Trainer): Promise<StepResult[]> {
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  return results
}

/** Everything but wall times. */
export const numbers = (results: readonly StepResult[]) =>
  results.map(({ metrics }) =>
    Object.fromEntries(
      Object.entries(metrics).filter(
        ([name]) => !/^timing_|^perf\/(time_per_step|throughput)$/.test(name),
      ),
    ),
  )
