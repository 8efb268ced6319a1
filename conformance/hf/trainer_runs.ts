// Runs golden trajectories of policies by the trainer's actor.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { CONTROL } from '../../src/kernels/optimizer/optimizer.ts'
import { POLICY_LOSS_SUMS } from '../../src/kernels/policy_loss/policy_loss_frame.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import { goldenActor, sftPhase } from './golden_actor.ts'
import { type ModelCase, responseTokens, sliceBatch, widthOf } from './model_case.ts'
import { append, type Run, type Series, type Weights } from './trajectory_check.ts'
import {
  advantagesOf,
  type PolicyPlan,
  type SupervisedPlan,
  trajectoryBatch,
} from './trajectory_plan.ts'

/** A number of the first update since beginStep, e.g. of a trainable's history. */
export const controlOf = (history: ArrayLike<number>, name: (typeof CONTROL)[number]): number =>
  history[CONTROL.indexOf(name)]

/** Supervised updates. */
export async function supervisedRunGpu(c: ModelCase, gpu: Gpu, plan: SupervisedPlan): Promise<Run> {
  const { updates, batches, optim, grad_clip } = plan
  const first = trajectoryBatch(c, 'sft', 0)
  const actor = await goldenActor(c, gpu, first, [sftPhase(first.rows)])
  const series: Series = {}
  for (let s = 0; s < updates; s++) {
    const batch = trajectoryBatch(c, 'sft', s % batches)
    actor.beginStep()
    actor.upload(batch, { micro: batch.rows })
    actor.updateSupervised(batch, batch.rows, optim, grad_clip, optim.lr)
    const [sums, history] = await gpu.read(actor.tensors.sums, actor.tensors.history)
    append(series, { loss: sums[0], grad_norm: controlOf(history, 'grad_norm') })
  }
  return { series, old_log_probs: [], final: await weightsOf(c, actor) }
}

/** Reinforcement, one update at a time, as Actor.updatePolicy does them, to read each one's
 * numbers. */
export async function policyRunGpu(c: ModelCase, gpu: Gpu, plan: PolicyPlan): Promise<Run> {
  const phases = [...new Set([plan.phaseOf(0), plan.phaseOf(plan.batches - 1)])]
  const sample = trajectoryBatch(c, plan.tag, 0)
  const actor = await goldenActor(c, gpu, sample, phases, { microRows: plan.mini })
  const { tensors, trainable } = actor
  const L = c.shape.num_hidden_layers
  const series: Series = {}
  const old_log_probs: Float32Array[] = []
  let after_phase1: Weights | undefined
  for (let i = 0; i < plan.batches; i++) {
    const phase = plan.phaseOf(i)
    const batch = trajectoryBatch(c, plan.tag, i)
    const rows = phaseRows(phase, widthOf(batch), c.shape)
    actor.upload(batch, rows, { advantages: Float32Array.from(advantagesOf(c, plan, i)) })
    actor.computeLogProbs(phase, rows)
    for (let first = 0; first < plan.rows; first += plan.mini) {
      const mini = sliceBatch(batch, first, plan.mini)
      actor.beginStep()
      actor.uploadProbe(mini)
      actor.probe()
      trainable.clearGradients()
      actor.accumulate(batch, phase, rows, { first, step: i })
      trainable.apply(phase.target_layer, plan.optim, plan.grad_clip, plan.optim.lr)
      const [sums, history, entropies] = await gpu.read(
        tensors.sums,
        tensors.history,
        tensors.probe_sums,
      )
      const sum = (name: (typeof POLICY_LOSS_SUMS)[number]) => sums[POLICY_LOSS_SUMS.indexOf(name)]
      append(series, {
        loss: sum('actor/pg_loss'),
        grad_norm: controlOf(history, 'grad_norm'),
        entropy: entropies[L] / responseTokens(mini),
        ppo_kl: sum('actor/ppo_kl'),
        pg_clipfrac: sum('actor/pg_clipfrac'),
        pg_clipfrac_lower: sum('actor/pg_clipfrac_lower'),
      })
    }
    const [old] = await gpu.read(tensors.batch.old_log_probs)
    old_log_probs.push(old)
    if (i + 1 === plan.innerBatches) after_phase1 = await weightsOf(c, actor)
  }
  const final = await weightsOf(c, actor)
  return { series, old_log_probs, final, ...(after_phase1 && { after_phase1 }) }
}

/** All weights of a trainable model by name. */
export async function weightsOf(
  { model }: Pick<ModelCase, 'model'>,
  trainable: { exportWeights(): Promise<Float32Array> },
): Promise<Weights> {
  const flat = await trainable.exportWeights()
  return Object.fromEntries(
    model.layout.params.map(({ name, offset, size }) => [name, flat.slice(offset, offset + size)]),
  )
}
