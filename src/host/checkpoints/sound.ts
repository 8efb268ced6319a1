// Decides whether a state is worth going back to.
import type { ModelState } from '../../rl/train/state.ts'
import type { UnsoundPart } from '../protocol/guard.ts'
import type { SteeredState } from './file/checkpoint.ts'
import { runModels, trainedLayout } from './file/checkpoint_models.ts'

const MODELS: readonly UnsoundPart['model'][] = ['actor', 'critic', 'reward_model']
const PARTS: readonly UnsoundPart['part'][] = ['weights', 'adapter', 'adam_m', 'adam_v']

/** The index of the first value that is Inf or NaN; -1 where all are finite. */
export const firstNonfinite = (values: Float32Array): number => {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return i
  return -1
}

/** The first weight or moment that is Inf or NaN; undefined where all are finite. Nothing that
 * follows from one is a number. */
export function unsoundPart({ trainer, experiment }: SteeredState): UnsoundPart | undefined {
  for (const model of MODELS) {
    const state: ModelState | undefined = trainer[model]
    for (const part of state ? PARTS : []) {
      const at = firstNonfinite(state?.[part] ?? new Float32Array())
      if (at < 0) continue
      const learner = runModels(experiment).learners.get(model)
      const layout = learner && (part === 'weights' ? learner.weights : trainedLayout(learner))
      const own = layout?.params.find(({ offset, size }) => at >= offset && at < offset + size)
      return { model, part, ...(own && { parameter: own.name }) }
    }
  }
  return undefined
}
