// Whether a state is worth going back to.
import type { ModelState } from '../../rl/state.ts'
import type { SteeredState } from './checkpoint.ts'

const isFinite = (values: Float32Array): boolean => {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return false
  return true
}

const isSoundModel = ({ weights, adam_m, adam_v }: ModelState): boolean =>
  isFinite(weights) && isFinite(adam_m) && isFinite(adam_v)

/** False where some weight or moment is Inf or NaN: nothing that follows from it is a number. */
export const isSound = ({ trainer }: SteeredState): boolean =>
  [trainer.actor, trainer.critic, trainer.reward_model].every(
    (model) => model === undefined || isSoundModel(model),
  )
