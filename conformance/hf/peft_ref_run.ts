// Runs PEFT's training runs in float64.
import { packAdapter } from '../../src/model/layout/adapter_layout.ts'
import { loraScale } from '../../src/model/layout/lora.ts'
import { logitsRef, policyRef } from '../../src/model/transformer/policy.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { refResponse, sliceBatch, widthOf } from './model_case.ts'
import type { PeftCase } from './peft_case.ts'
import type { PeftRun } from './peft_run.ts'
import { policyGradientRef, supervisedGradientRef } from './policy_gradients.ts'
import { RefTrainable } from './ref_trainable.ts'

/** A run from the case's first adapter. */
export function peftRunRef(c: PeftCase): PeftRun {
  const { config } = c.model
  const { actor } = c.phase
  const L = config.num_hidden_layers
  const trainable = new RefTrainable(c.layout, packAdapter(c.layout, c.adapter.factors))
  const adapter = { factors: trainable.params, scaleOf: () => loraScale(c.adapter.lora) }
  const model = { model: c.model, params: c.params, adapter }
  const cacheOf = (batch: RolloutBatch, isOn: boolean) =>
    forwardRef(
      config,
      c.params,
      { ...batch, width: widthOf(batch) },
      { adapter: isOn ? adapter : undefined },
    )
  const scored = (batch: RolloutBatch, isOn: boolean) =>
    policyRef(config, c.params, cacheOf(batch, isOn), L, refResponse(batch)).log_probs
  const step = (grads: Parameters<typeof trainable.step>[0]) =>
    trainable.step(grads, L, actor.optim, c.grad_clip)
  let present: { batch: RolloutBatch; columns: Record<string, Float64Array> } | undefined
  return {
    logits: async (batch, isOn) => logitsRef(config, c.params, cacheOf(batch, isOn).normed),
    supervised: async (batch) => {
      const { loss, grads } = supervisedGradientRef(model, batch)
      return { loss, grad_norm: step(grads) }
    },
    begin: async (batch, advantages) => {
      const columns = {
        old_log_probs: scored(batch, true),
        ref_log_prob: scored(batch, false),
        advantages: Float64Array.from(advantages),
      }
      present = { batch, columns }
      return columns
    },
    update: async (first) => {
      if (!present) throw new Error('peft: update before begin')
      const mini = sliceBatch(present.batch, first, actor.ppo_mini_batch_size)
      const R = mini.response_length
      const columns = Object.fromEntries(
        Object.entries(present.columns).map(([name, x]) => [
          name,
          x.subarray(first * R, (first + mini.rows) * R),
        ]),
      )
      const { loss, grads, metrics } = policyGradientRef(model, mini, { phase: c.phase, columns })
      return {
        loss,
        kl_loss: metrics['actor/kl_loss'],
        ppo_kl: metrics['actor/ppo_kl'],
        pg_clipfrac: metrics['actor/pg_clipfrac'],
        grad_norm: step(grads),
      }
    },
    factors: async () => trainable.copy(),
  }
}
