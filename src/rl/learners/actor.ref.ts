// A training step of the actor in float64.
import { adamw_step_ref } from '../../kernels/optimizer/optimizer.ref.ts'
import { entropyLossRef } from '../../kernels/policy_loss/entropy_loss.ref.ts'
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import type { ModelConfig } from '../../model/params/config.ts'
import { chunkSegments, trainedPrefix } from '../../model/params/flat_params.ts'
import type { ParamLayout } from '../../model/params/params.ts'
import { backwardRef } from '../../model/transformer/backward.ref.ts'
import { policyRef } from '../../model/transformer/policy.ref.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import type { RlPhase } from '../config/phase.ts'
import { segmentFactors } from '../config/trained_segments.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import { policyLossRef } from '../losses/policy_loss.ref.ts'

type AdamWState = Parameters<typeof adamw_step_ref>[0]

/** The same training step in float64: old log-probs, then its mini-batches. Returns log-probs and the loss. */
export function actorStepRef(
  config: ModelConfig,
  state: AdamWState,
  layout: ParamLayout,
  batch: RolloutBatch,
  advantages: Float32Array,
  phase: RlPhase,
  lr: number,
) {
  const { actor, rollout, target_layer } = phase
  const { rows: ROWS, response_length: R } = batch
  const mini_rows = actor.ppo_mini_batch_size * rollout.n
  const named = () =>
    Object.fromEntries(
      layout.params.map(({ name, offset, size: n }) => [
        name,
        state.weights.subarray(offset, offset + n),
      ]),
    )
  const whole = rowsOf(batch, advantages, phase, 0, ROWS)
  const cache = forwardRef(config, named(), whole, { layers: target_layer })
  const old = policyRef(config, named(), cache, target_layer, whole.response).log_probs
  let loss = 0
  const grad_norms: number[] = []
  for (let first = 0; first < ROWS; first += mini_rows) {
    const mini = rowsOf(batch, advantages, phase, first, mini_rows)
    const mini_cache = forwardRef(config, named(), mini, { layers: target_layer })
    const policy = policyRef(config, named(), mini_cache, target_layer, mini.response)
    const { response_mask } = mini.response
    const objective = policyLossRef('vanilla', actor, {
      ...policy,
      old_log_probs: old.subarray(first * R, (first + mini_rows) * R),
      advantages: mini.advantages,
      response_mask,
      response_length: R,
    })
    const weights = aggregationWeights(response_mask, R, actor)
    const { d_entropy } = entropyLossRef(actor.entropy_coeff, policy.entropy, weights)
    loss += objective.loss
    const out = { d_log_probs: objective.d_log_probs, d_entropy }
    const grads = backwardRef(config, named(), mini_cache, target_layer, {
      ...mini.response,
      ...out,
    })
    const flat = new Float64Array(layout.size)
    for (const { name, offset } of layout.params) if (grads[name]) flat.set(grads[name], offset)
    grad_norms.push(updateRef(state, flat, layout, phase, lr))
  }
  return { old, loss, grad_norms }
}

/** `count` rows of the batch from `first`, as the model in float64 takes them. */
function rowsOf(
  batch: RolloutBatch,
  advantages: Float32Array,
  { rollout, target_readout: readout }: RlPhase,
  first: number,
  count: number,
) {
  const { prompt_length: P, response_length: R } = batch
  const cut = <T extends Uint32Array | Float32Array>(x: T, columns: number) =>
    x.subarray(first * columns, (first + count) * columns) as T
  const width = P + R
  return {
    rows: count,
    width,
    input_ids: cut(batch.input_ids, width),
    attention_mask: cut(batch.attention_mask, width),
    position_ids: cut(batch.position_ids, width),
    response: {
      response_ids: cut(batch.response_ids, R),
      response_mask: cut(batch.response_mask, R),
      first_column: P - 1,
      response_length: R,
      temperature: rollout.temperature,
      readout,
    },
    advantages: cut(advantages, R),
  }
}

/** AdamW over the segments that the phase trains. Changes `state`; returns the norm before clipping. */
function updateRef(
  state: AdamWState,
  grads: Float64Array,
  layout: ParamLayout,
  phase: RlPhase,
  lr: number,
): number {
  const { optim } = phase.actor
  const lr_factors = segmentFactors(layout, phase)
  const { count, segments } = lr_factors
    ? { count: layout.size, segments: layout.segment_ends.length }
    : trainedPrefix(layout, phase.target_layer)
  const [beta1, beta2] = optim.betas
  const { weight_decay } = optim
  const settings = { lr, beta1, beta2, eps: 1e-8, weight_decay, max_norm: 1 }
  const where = {
    count,
    chunk_segment: chunkSegments(layout),
    active_segments: segments,
    ...(lr_factors && { lr_factors }),
  }
  return adamw_step_ref(state, grads, settings, where).grad_norm
}
