// Runs PEFT's training runs by the trainer's actor.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { POLICY_LOSS_SUMS } from '../../src/kernels/policy_loss/policy_loss_frame.ts'
import { packAdapter } from '../../src/model/layout/adapter_layout.ts'
import { modelShape } from '../../src/model/layout/config.ts'
import { paramLayout } from '../../src/model/layout/params.ts'
import { readParams } from '../../src/model/params/param_copies.ts'
import { withoutAdapter } from '../../src/model/transformer/model.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import { goldenActor, sftPhase } from './golden_actor.ts'
import { logitsGpu } from './gpu_model.ts'
import { widthOf } from './model_case.ts'
import { type PeftCase, peftBatch } from './peft_case.ts'
import type { PeftRun } from './peft_run.ts'
import { totalLoss } from './policy_gradients.ts'
import { controlOf } from './trainer_runs.ts'

/** A run from the case's first adapter. */
export async function peftRunGpu(c: PeftCase, gpu: Gpu): Promise<PeftRun> {
  const { phase, grad_clip } = c
  const { optim } = phase.actor
  const { lora, factors } = c.adapter
  const sample = peftBatch(c, 0)
  const layout = paramLayout(modelShape({ ...c.model.layout.shape, lora }))
  const actor = await goldenActor(
    { model: { ...c.model, layout }, matmul: c.matmul },
    gpu,
    sample,
    [sftPhase(sample.rows), phase],
    { microRows: sample.rows, factors: packAdapter(c.layout, factors) },
  )
  const { tensors, trainable } = actor
  const { adapter } = tensors.model
  if (!adapter) throw new Error('peft: expected an adapter')
  const rows = phaseRows(phase, widthOf(sample), layout.shape)
  let present: RolloutBatch | undefined
  return {
    logits: (batch, isOn) =>
      logitsGpu(gpu, isOn ? tensors.model : withoutAdapter(tensors.model), batch),
    supervised: async (batch) => {
      actor.beginStep()
      actor.upload(batch, { micro: batch.rows })
      actor.updateSupervised(batch, batch.rows, optim, grad_clip, optim.lr)
      const [sums, history] = await gpu.read(tensors.sums, tensors.history)
      return { loss: sums[0], grad_norm: controlOf(history, 'grad_norm') }
    },
    begin: async (batch, advantages) => {
      present = batch
      actor.upload(batch, rows, { advantages: Float32Array.from(advantages) })
      actor.computeLogProbs(phase, rows)
      actor.computeRefLogProb(phase, rows)
      const [old_log_probs, ref_log_prob] = await gpu.read(
        tensors.batch.old_log_probs,
        tensors.batch.ref_log_prob,
      )
      return { old_log_probs, ref_log_prob }
    },
    update: async (first) => {
      if (!present) throw new Error('peft: update before begin')
      actor.beginStep()
      trainable.clearGradients()
      actor.accumulate(present, phase, rows, { first, step: 0 })
      trainable.apply(phase.target_layer, optim, grad_clip, optim.lr)
      const [sums, history] = await gpu.read(tensors.sums, tensors.history)
      const sum = (name: (typeof POLICY_LOSS_SUMS)[number]) => sums[POLICY_LOSS_SUMS.indexOf(name)]
      return {
        loss: totalLoss(sums, phase.actor),
        kl_loss: sum('actor/kl_loss'),
        ppo_kl: sum('actor/ppo_kl'),
        pg_clipfrac: sum('actor/pg_clipfrac'),
        grad_norm: controlOf(history, 'grad_norm'),
      }
    },
    factors: async () => {
      const [flat] = await readParams(gpu, adapter.buffers)
      return Object.fromEntries(
        c.layout.params.map(({ name, offset, size }) => [name, flat.slice(offset, offset + size)]),
      )
    },
  }
}
