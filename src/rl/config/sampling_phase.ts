// Makes the phase that samples responses where no reward trains: as one of reinforcement would, one
// to each prompt.

import { defaultsOf } from '../fields/field.ts'
import { ACTOR_DEFAULTS } from './actor.ts'
import { ALGORITHM_DEFAULTS } from './algorithm.ts'
import { CRITIC } from './critic.ts'
import type { DistillPhase, RlPhase } from './phase.ts'

/** What the rollout of a distilling phase reads of it. No advantage is computed from a reward. */
export function samplingPhase(phase: DistillPhase, max_response_length: number): RlPhase {
  const { name, steps, target_layer, batch_size, optim, distillation } = phase
  return {
    kind: 'rl',
    name,
    steps,
    target_layer,
    adv_estimator: 'grpo',
    rollout: {
      train_batch_size: batch_size,
      n: 1,
      temperature: distillation.temperature,
      top_p: 1,
      top_k: -1,
      max_response_length,
    },
    actor: { ...ACTOR_DEFAULTS, ppo_mini_batch_size: batch_size, optim },
    critic: { ...defaultsOf(CRITIC), optim },
    algorithm: ALGORITHM_DEFAULTS,
    reward_model: { enable: false },
  }
}
