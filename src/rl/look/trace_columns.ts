// Lists the columns that a traced step reads back from the GPU, and where they lie.
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import type { RlPhase } from '../config/phase.ts'
import { needsCritic, needsReference } from '../experience/experience.ts'
import type { ActorTensors } from '../learners/actor_tensors.ts'
import { UPDATE_TRACE } from '../learners/base/step_trace.ts'
import type { CriticTensors } from '../learners/critic_tensors.ts'
import { choosesTokens, objectiveOf } from '../learners/objective.ts'

/** Arrays that a traced step reads back, [B, R] each. */
export type TraceColumn =
  | 'log_probs'
  | 'entropy'
  | 'old_log_probs'
  | 'log_probs_after'
  | 'ref_log_prob'
  | 'values'
  | 'rollout_is_weights'
  | 'modified_mask'
  | 'chosen'

/** What a traced step of a phase reads back. */
export function traceColumns(phase: RlPhase): TraceColumn[] {
  const { bypass_mode } = phase.algorithm.rollout_correction
  return [
    ...(['old_log_probs', 'log_probs', 'entropy', 'log_probs_after'] as const),
    ...(needsReference(phase) ? (['ref_log_prob'] as const) : []),
    ...(needsCritic(phase) ? (['values'] as const) : []),
    ...(bypass_mode ? (['rollout_is_weights', 'modified_mask'] as const) : []),
    ...(choosesTokens(objectiveOf(phase)) ? (['chosen'] as const) : []),
  ]
}

/** Whether the updates write a column; its rows then have the order of the last epoch. */
export const isOfUpdate = (name: TraceColumn): boolean =>
  name === 'chosen' || (UPDATE_TRACE as readonly string[]).includes(name)

/** The tensor that holds a column once the trace of a step has ended (Actor.endTrace). */
export function traceTensor(
  name: TraceColumn,
  { trace, batch }: Pick<ActorTensors, 'trace' | 'batch'>,
  critic: Pick<CriticTensors, 'values'> | undefined,
): Tensor {
  if (name === 'log_probs_after') return batch.old_log_probs
  if (name === 'ref_log_prob') return batch.ref_log_prob
  if (name !== 'values') return trace[name]
  if (!critic) throw new Error('trace: there is no critic')
  return critic.values
}
