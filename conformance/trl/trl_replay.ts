// Replays TRL's first updates: by the trainer's actor on the GPU, and in float64.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { POLICY_LOSS_SUMS } from '../../src/kernels/policy_loss/policy_loss_frame.ts'
import { policyRef } from '../../src/model/transformer/policy.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import { goldenActor } from '../hf/golden_actor.ts'
import { refResponse, widthOf } from '../hf/model_case.ts'
import { policyGradientRef } from '../hf/policy_gradients.ts'
import { RefTrainable } from '../hf/ref_trainable.ts'
import { controlOf, weightsOf } from '../hf/trainer_runs.ts'
import type { TracedUpdate, TrlCase } from './trl_trace.ts'

type Numbers = ArrayLike<number>

/** What one update computes before it changes the weights, and the weights after it. */
export interface Replayed {
  /** [B, R]; what padding holds means nothing. */
  readonly per_token_logps: Numbers
  readonly entropies: Numbers
  readonly loss: number
  readonly grad_norm: number
  readonly weights: Readonly<Record<string, Numbers>>
}

/** Takes the updates of one run in their order. */
export type Replay = (update: TracedUpdate) => Promise<Replayed>

/** [B] → [B, R] */
const perToken = ({ advantages, batch }: TracedUpdate): Float32Array =>
  Float32Array.from(
    { length: batch.response_mask.length },
    (_, i) => advantages[Math.floor(i / batch.response_length)],
  )

/** On the GPU; `first`: an update whose batch and phase have the sizes of all. */
export async function replayGpu(c: TrlCase, gpu: Gpu, first: TracedUpdate): Promise<Replay> {
  const { phase } = first.plan
  const rows = phaseRows(phase, widthOf(first.batch), c.model.config)
  const actor = await goldenActor(c, gpu, first.batch, [phase], { microRows: rows.micro })
  const { tensors, trainable } = actor
  return async (update) => {
    const { batch, old_log_probs } = update
    actor.beginStep()
    actor.upload(batch, rows, { advantages: perToken(update) })
    actor.computeLogProbs(phase, rows)
    const [per_token_logps] = await gpu.read(tensors.batch.old_log_probs)
    if (old_log_probs) actor.uploadColumns({ old_log_probs: Float32Array.from(old_log_probs) })
    actor.beginTrace()
    actor.updatePolicy(batch, phase, rows, { lr: phase.actor.optim.lr, step: 0 })
    const [sums, history, entropies] = await gpu.read(
      tensors.sums,
      tensors.history,
      tensors.trace.entropy,
    )
    return {
      per_token_logps,
      entropies,
      loss: sums[POLICY_LOSS_SUMS.indexOf('actor/pg_loss')],
      grad_norm: controlOf(history, 'grad_norm'),
      weights: await weightsOf(c, trainable),
    }
  }
}

/** In float64. */
export function replayRef({ model }: TrlCase, { plan: { phase } }: TracedUpdate): Replay {
  const trainable = new RefTrainable(model.layout, model.weights)
  const { params } = trainable
  const { target_layer, actor } = phase
  return async (update) => {
    const { batch } = update
    const cache = forwardRef(model.config, params, { ...batch, width: widthOf(batch) })
    const scored = policyRef(model.config, params, cache, target_layer, refResponse(batch))
    const columns = {
      old_log_probs: update.old_log_probs ?? Float64Array.from(scored.log_probs),
      advantages: Float64Array.from(perToken(update)),
    }
    const loss = { phase, columns }
    const found = policyGradientRef({ model, params }, batch, loss)
    return {
      per_token_logps: scored.log_probs,
      entropies: scored.entropy,
      loss: found.loss,
      grad_norm: trainable.step(found.grads, target_layer, actor.optim, actor.grad_clip),
      weights: trainable.copy(),
    }
  }
}
