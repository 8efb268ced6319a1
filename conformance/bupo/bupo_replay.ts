// Replays the steps of a trace: by the trainer's actor on the GPU, and in float64.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { POLICY_LOSS_SUMS } from '../../src/kernels/policy_loss/policy_loss_frame.ts'
import { policyRef } from '../../src/model/transformer/policy.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { segmentFactors } from '../../src/rl/config/trained_segments.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import type { Actor } from '../../src/rl/learners/actor.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import { trainedWhere } from '../../src/rl/learners/policy_backward.ref.ts'
import { goldenActor } from '../hf/golden_actor.ts'
import { refResponse, sliceBatch, widthOf } from '../hf/model_case.ts'
import { policyGradientRef } from '../hf/policy_gradients.ts'
import { RefTrainable } from '../hf/ref_trainable.ts'
import { controlOf, weightsOf } from '../hf/trainer_runs.ts'
import { rankRows } from './bupo_settings.ts'
import { type BupoCase, rowsOfUpdate, type TracedStep, type TracedUpdate } from './bupo_trace.ts'

type Numbers = ArrayLike<number>

/** What a step knows before its updates, [B, R] each; what padding holds means nothing. */
export interface Scored {
  readonly old_log_probs: Numbers
  /** Of the whole model's policy, in every phase. */
  readonly entropies: Numbers
  readonly ref_log_prob?: Numbers
}

/** What one update computes, and the weights after it. */
export interface Updated {
  /** Of the rows of the first rank; verl's names. */
  readonly metrics: Readonly<Record<string, number>>
  readonly grad_norm: number
  readonly weights: Readonly<Record<string, Numbers>>
  /** Optimizer steps of a parameter, where it is known. */
  readonly stepsOf?: (name: string) => number | undefined
}

/** Takes the steps of a trace in their order, and the updates of each. */
export interface Replay {
  score(step: TracedStep): Promise<Scored>
  update(step: TracedStep, update: TracedUpdate): Promise<Updated>
}

/** By the actor that runs train with. */
export async function replayGpu(c: BupoCase, gpu: Gpu): Promise<Replay> {
  const [first] = c.steps
  const phases = c.steps.map(({ phase }) => phase)
  const rowsOf = ({ phase, batch }: TracedStep) => phaseRows(phase, widthOf(batch), c.model.config)
  const actor = await goldenActor(c, gpu, first.batch, phases, { microRows: rowsOf(first).micro })
  actor.setReference()
  const { tensors, trainable } = actor
  let ref_log_prob: Float32Array | undefined
  return {
    async score(step) {
      const rows = rowsOf(step)
      actor.beginStep()
      actor.upload(step.batch, rows)
      actor.computeLogProbs(step.phase, rows)
      if (step.phase.actor.use_kl_loss) actor.computeRefLogProb(step.phase, rows)
      const [old_log_probs, reference] = await gpu.read(
        tensors.batch.old_log_probs,
        tensors.batch.ref_log_prob,
      )
      ref_log_prob = step.phase.actor.use_kl_loss ? reference : undefined
      const entropies = await finalEntropies(actor, gpu, step.batch)
      return { old_log_probs, entropies, ...(ref_log_prob && { ref_log_prob }) }
    },
    async update(step, update) {
      const { phase } = step
      const rows = rowsOf(step)
      const { batch, cut } = rowsOfUpdate(step, update)
      const given = columnsOf(step, ref_log_prob)
      const columns = Object.entries(given).map(([name, x]) => [name, Float32Array.from(cut(x))])
      const layout = { ...tensors.layout, shape: tensors.model.shape }
      const factors = segmentFactors(layout, phase)
      const { optim, grad_clip } = phase.actor
      const accumulate = async (mini: number) => {
        actor.beginStep()
        trainable.clearGradients()
        actor.accumulate(batch, phase, { ...rows, mini }, { first: 0, step: 0 })
        const [sums] = await gpu.read(tensors.sums)
        return Object.fromEntries(POLICY_LOSS_SUMS.map((name, i) => [name, sums[i]]))
      }
      actor.upload(batch, rows, Object.fromEntries(columns))
      const each = rankRows(c.plan, rows.mini)
      const metrics = await accumulate(each)
      // Of several ranks the gradients are averaged, each divided by its own tokens, as those of
      // micro-batches are.
      if (each !== rows.mini) await accumulate(rows.mini)
      trainable.apply(phase.target_layer, optim, grad_clip, update.lr, factors)
      const [history] = await gpu.read(tensors.history)
      const grad_norm = controlOf(history, 'grad_norm')
      return { metrics, grad_norm, weights: await weightsOf(c, trainable) }
    },
  }
}

/** What an update reads beside ids and masks. */
const columnsOf = (step: TracedStep, ref_log_prob: Numbers | undefined) => ({
  old_log_probs: step.old_log_probs,
  advantages: step.advantages,
  ...(ref_log_prob && { ref_log_prob: step.ref_log_prob ?? Float64Array.from(ref_log_prob) }),
})

/** Entropies of the model's own policy at every response token, from as many rows at a time as the
 * probe has. */
async function finalEntropies(actor: Actor, gpu: Gpu, batch: RolloutBatch): Promise<Float64Array> {
  const { probe_entropy } = actor.tensors
  const [layers, stride] = probe_entropy.shape
  const found: number[] = []
  for (let first = 0; first < batch.rows; first += actor.size.probeRows) {
    const rows = sliceBatch(batch, first, Math.min(actor.size.probeRows, batch.rows - first))
    actor.uploadProbe(rows)
    actor.probe()
    const [entropy] = await gpu.read(probe_entropy)
    const start = (layers - 1) * stride
    found.push(...entropy.subarray(start, start + rows.rows * rows.response_length))
  }
  return Float64Array.from(found)
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, x) => sum + x, 0) / values.length

/** In float64. */
export function replayRef({ model, plan }: BupoCase): Replay {
  const trainable = new RefTrainable(model.layout, model.weights)
  const start = trainable.copy()
  const { params } = trainable
  const { config } = model
  const reader = (of: typeof params, { batch, phase }: TracedStep) => {
    const cache = forwardRef(config, of, { ...batch, width: widthOf(batch) })
    const response = refResponse(batch, phase.rollout.temperature)
    return (layer: number) => policyRef(config, of, cache, layer, response)
  }
  let ref_log_prob: Numbers | undefined
  return {
    async score(step) {
      const { target_layer, actor } = step.phase
      ref_log_prob = actor.use_kl_loss ? reader(start, step)(target_layer).log_probs : undefined
      const read = reader(params, step)
      const scored = read(target_layer)
      const isWhole = target_layer === config.num_hidden_layers
      return {
        old_log_probs: scored.log_probs,
        entropies: (isWhole ? scored : read(config.num_hidden_layers)).entropy,
        ...(ref_log_prob && { ref_log_prob }),
      }
    },
    async update(step, update) {
      const { phase } = step
      const { batch, cut } = rowsOfUpdate(step, update)
      const given = Object.entries(columnsOf(step, ref_log_prob))
      const R = batch.response_length
      const micro = phase.actor.ppo_micro_batch_size_per_gpu ?? update.rows.length
      const parts = Array.from({ length: update.rows.length / micro }, (_, i) => {
        const first = i * micro
        const columns = Object.fromEntries(
          given.map(([name, x]) => [name, cut(x).subarray(first * R, (first + micro) * R)]),
        )
        return policyGradientRef({ model, params }, sliceBatch(batch, first, micro), {
          phase,
          columns,
        })
      })
      const grads = Object.fromEntries(
        Object.keys(parts[0].grads).map((name) => [
          name,
          Float64Array.from(parts[0].grads[name], (_, i) =>
            mean(parts.map((p) => p.grads[name][i])),
          ),
        ]),
      )
      const ofRank = parts.slice(0, rankRows(plan, update.rows.length) / micro)
      const metrics = Object.fromEntries(
        Object.keys(parts[0].metrics).map((name) => [
          name,
          mean(ofRank.map((part) => part.metrics[name])),
        ]),
      )
      const optim = { ...phase.actor.optim, lr: update.lr }
      const where = trainedWhere(model.layout, phase)
      const grad_norm = trainable.stepOver(grads, where, optim, phase.actor.grad_clip)
      const stepsOf = (name: string) => trainable.stepsOf(name)
      return { metrics, grad_norm, weights: trainable.copy(), stepsOf }
    },
  }
}
