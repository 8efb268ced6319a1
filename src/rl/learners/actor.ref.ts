// Computes a training step of the actor in float64.
import { adamwRef } from '../../kernels/optimizer/optimizer.ref.ts'
import { entropyLossRef } from '../../kernels/policy_loss/entropy_loss.ref.ts'
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import type { ModelConfig } from '../../model/layout/config.ts'
import { chunkSegments } from '../../model/layout/flat_params.ts'
import { loraScale } from '../../model/layout/lora.ts'
import { backwardRef } from '../../model/transformer/backward.ref.ts'
import type { RefArrays, RefBatch } from '../../model/transformer/operations.ref.ts'
import { policyRef, refReadout } from '../../model/transformer/policy.ref.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import type { TrainedLayout } from '../config/trained_segments.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import { policyLossRef } from '../losses/policy_loss.ref.ts'
import { addInnerRef, innerOldRef, type RefPhase } from './inner.ref.ts'
import { trainedWhere } from './policy_backward.ref.ts'

type AdamWState = Parameters<typeof adamwRef>[0]

/** The same training step in float64: old log-probs, then its mini-batches. Returns log-probs and
 * the loss. With `base` the state is that of the config's adapter, beside these frozen weights. */
export function actorStepRef(
  config: ModelConfig,
  state: AdamWState,
  layout: TrainedLayout,
  batch: RolloutBatch,
  advantages: Float32Array,
  phase: RefPhase,
  lr: number,
  base?: RefArrays,
) {
  const { actor, rollout, target_layer } = phase
  const { rows: ROWS, response_length: R } = batch
  const miniRows = actor.ppo_mini_batch_size * rollout.n
  const named = () =>
    Object.fromEntries(
      layout.params.map(({ name, offset, size: n }) => [
        name,
        state.weights.subarray(offset, offset + n),
      ]),
    )
  const forward = (rows: RefBatch) => {
    const adapter = (config.lora ?? config.steering_vectors) && {
      factors: named(),
      scaleOf: () => scale,
    }
    return forwardRef(config, base ?? named(), rows, { layers: target_layer, adapter })
  }
  const scale = config.lora ? loraScale(config.lora) : 1
  const whole = rowsOf(batch, advantages, phase, 0, ROWS)
  const cache = forward(whole)
  const old = policyRef(config, base ?? named(), cache, target_layer, whole.response).log_probs
  const innerOld = innerOldRef(config, base ?? named(), cache, whole.response, actor)
  const inner_losses = innerOld.map(() => 0)
  let loss = 0
  const grad_norms: number[] = []
  for (let first = 0; first < ROWS; first += miniRows) {
    const mini = rowsOf(batch, advantages, phase, first, miniRows)
    const miniCache = forward(mini)
    const policy = policyRef(config, base ?? named(), miniCache, target_layer, mini.response)
    const { response_mask } = mini.response
    const objective = policyLossRef('vanilla', actor, {
      ...policy,
      old_log_probs: old.subarray(first * R, (first + miniRows) * R),
      advantages: mini.advantages,
      response_mask,
      response_length: R,
    })
    const weights = aggregationWeights(response_mask, R, actor)
    const { d_entropy } = entropyLossRef(actor.entropy_coeff, policy.entropy, weights)
    loss += objective.loss
    const out = { d_log_probs: objective.d_log_probs, d_entropy }
    const grads = backwardRef(config, base ?? named(), miniCache, target_layer, {
      ...mini.response,
      ...out,
    })
    const cut = (x: Float64Array) => x.subarray(first * R, (first + miniRows) * R)
    const along = {
      ...mini,
      old: innerOld.map(cut),
      loss_weights: weights,
      grads,
    }
    const found = addInnerRef(config, base ?? named(), miniCache, actor, along)
    for (const [i, one] of found.entries()) inner_losses[i] += one
    const flat = new Float64Array(layout.size)
    for (const { name, offset } of layout.params) if (grads[name]) flat.set(grads[name], offset)
    grad_norms.push(updateRef(state, flat, layout, phase, lr))
  }
  return { old, loss, inner_losses, grad_norms }
}

/** `count` rows of the batch from `first`, as the model in float64 takes them. */
function rowsOf(
  batch: RolloutBatch,
  advantages: Float32Array,
  { rollout, target_layer, target_readout, translators }: RefPhase,
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
      readout: refReadout(target_readout, target_layer, translators),
      translators,
    },
    advantages: cut(advantages, R),
  }
}

/** AdamW over the segments that the phase trains. Changes `state`; returns the norm before
 * clipping. */
function updateRef(
  state: AdamWState,
  grads: Float64Array,
  layout: TrainedLayout,
  phase: RefPhase,
  lr: number,
): number {
  const { optim } = phase.actor
  const [beta1, beta2] = optim.betas
  const { weight_decay } = optim
  const settings = { lr, beta1, beta2, eps: 1e-8, weight_decay, max_norm: 1 }
  const where = { ...trainedWhere(layout, phase), chunk_segment: chunkSegments(layout) }
  return adamwRef(state, grads, settings, where).grad_norm
}
