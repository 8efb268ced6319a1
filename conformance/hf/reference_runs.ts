// Runs golden trajectories of policies in float64.

import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { policyRef } from '../../src/model/transformer/policy.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { type ModelCase, refResponse, responseTokens, sliceBatch, widthOf } from './model_case.ts'
import { policyGradientRef, supervisedGradientRef } from './policy_gradients.ts'
import { RefTrainable } from './ref_trainable.ts'
import { append, type Run, type Series } from './trajectory_check.ts'
import {
  advantagesOf,
  type PolicyPlan,
  type SupervisedPlan,
  trajectoryBatch,
} from './trajectory_plan.ts'

/** Supervised updates. */
export function supervisedRunRef(c: ModelCase, plan: SupervisedPlan): Run {
  const { layout, weights } = c.model
  const trainable = new RefTrainable(layout, weights)
  const model = { model: c.model, params: trainable.params }
  const series: Series = {}
  for (let s = 0; s < plan.updates; s++) {
    const batch = trajectoryBatch(c, 'sft', s % plan.batches)
    const { loss, grads } = supervisedGradientRef(model, batch)
    const layer = c.shape.num_hidden_layers
    append(series, { loss, grad_norm: trainable.step(grads, layer, plan.optim, plan.grad_clip) })
  }
  return { series, old_log_probs: [], final: trainable.params }
}

/** Reinforcement: old log-probs of each batch by the weights as they are then, and one update per
 * mini-batch. */
export function policyRunRef(c: ModelCase, plan: PolicyPlan): Run {
  const { layout, weights } = c.model
  const L = c.shape.num_hidden_layers
  const trainable = new RefTrainable(layout, weights)
  const model = { model: c.model, params: trainable.params }
  const series: Series = {}
  const old_log_probs: Float64Array[] = []
  let after_phase1: RefArrays | undefined
  for (let i = 0; i < plan.batches; i++) {
    const phase = plan.phaseOf(i)
    const whole = trajectoryBatch(c, plan.tag, i)
    const old = logProbsRef(c, trainable.params, whole, phase.target_layer).log_probs
    old_log_probs.push(old)
    for (let first = 0; first < plan.rows; first += plan.mini) {
      const batch = sliceBatch(whole, first, plan.mini)
      const R = batch.response_length
      const cut = (x: Float64Array) => x.subarray(first * R, (first + plan.mini) * R)
      const columns = { old_log_probs: cut(old), advantages: cut(advantagesOf(c, plan, i)) }
      const entropy = logProbsRef(c, trainable.params, batch, L).entropy
      const { loss, grads, metrics } = policyGradientRef(model, batch, { phase, columns })
      append(series, {
        loss,
        grad_norm: trainable.step(grads, phase.target_layer, plan.optim, plan.grad_clip),
        entropy: entropy.reduce((a, b) => a + b, 0) / responseTokens(batch),
        ppo_kl: metrics['actor/ppo_kl'],
        pg_clipfrac: metrics['actor/pg_clipfrac'],
        pg_clipfrac_lower: metrics['actor/pg_clipfrac_lower'],
      })
    }
    if (i + 1 === plan.innerBatches) after_phase1 = trainable.copy()
  }
  return { series, old_log_probs, final: trainable.params, ...(after_phase1 && { after_phase1 }) }
}

function logProbsRef(c: ModelCase, params: RefArrays, batch: RolloutBatch, layer: number) {
  const { config } = c.model
  const cache = forwardRef(config, params, { ...batch, width: widthOf(batch) }, { layers: layer })
  return policyRef(config, params, cache, layer, refResponse(batch))
}
