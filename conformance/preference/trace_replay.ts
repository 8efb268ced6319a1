// Replays the updates of a trace: by the trainer's actor on the GPU, and in float64.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { backwardRef } from '../../src/model/transformer/backward.ref.ts'
import { eachResponseToken, policyRef } from '../../src/model/transformer/policy.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import { answerUpdate, mismatchedKl } from '../../src/rl/preferences/answer_objective.ts'
import type { ScoredAnswers } from '../../src/rl/preferences/answers.ts'
import { type PreferenceUpdate, pairUpdate } from '../../src/rl/preferences/pair_objective.ts'
import { goldenActor } from '../hf/golden_actor.ts'
import { refResponse, widthOf } from '../hf/model_case.ts'
import { RefTrainable } from '../hf/ref_trainable.ts'
import { controlOf, weightsOf } from '../hf/trainer_runs.ts'
import type { TraceCase, TracedMicroBatch, TracedRows, TracedRun, TracedUpdate } from './trace.ts'
import type { TracedObjective } from './trace_settings.ts'

type Numbers = ArrayLike<number>

/** Log-probs of rows under the policy and, where a run has one, its reference; [rows, R]. */
interface Scored {
  readonly policy: Numbers
  readonly reference: Numbers | undefined
  readonly sum_p_squared: Numbers
}

/** What one micro-batch computes before the update. */
export interface ReplayedMicroBatch {
  readonly scored: Scored
  readonly mismatched: Scored | undefined
  readonly found: PreferenceUpdate
  /** Of every scored token, [rows, R]. */
  readonly entropies: Numbers
  /** Whether the likeliest token is the one that came, where it is known; [rows, R]. */
  readonly hits?: Numbers
}

export interface ReplayedUpdate {
  readonly micro_batches: readonly ReplayedMicroBatch[]
  readonly grad_norm: number
  readonly weights: Readonly<Record<string, Numbers>>
}

/** Takes the updates of one run in their order. */
export type Replay = (update: TracedUpdate) => Promise<ReplayedUpdate>

/** The update that a micro-batch asks for. */
function updateOf(
  trained: TracedObjective,
  { rows, mismatched, labels }: TracedMicroBatch,
  scored: Scored,
  ofMismatched: Scored | undefined,
): PreferenceUpdate {
  const answersOf = ({ batch, completion_mask }: TracedRows, x: Scored): ScoredAnswers => ({
    rows: batch.rows,
    columns: batch.response_length,
    log_probs: x.policy,
    ref_log_probs: x.reference,
    completion_mask,
    sequence_mask: batch.response_mask,
    sum_p_squared: x.sum_p_squared,
  })
  if (trained.data === 'pairs') return pairUpdate(trained.objective, answersOf(rows, scored))
  const kl = mismatched && ofMismatched ? mismatchedKl(answersOf(mismatched, ofMismatched)) : 0
  return answerUpdate(trained.objective, answersOf(rows, scored), labels, kl)
}

/** By the actor that runs train with; the gradient of every log-prob is given to it as an
 * advantage. */
export async function replayGpu(c: TraceCase, gpu: Gpu, run: TracedRun): Promise<Replay> {
  const { phase, hasReference, trained } = run.plan
  const first = run.updates[0].micro_batches[0].rows.batch
  const rows = phaseRows(phase, widthOf(first), c.model.config)
  const actor = await goldenActor(c, gpu, first, [phase], { microRows: rows.micro })
  if (hasReference) actor.setReference()
  const { tensors, trainable } = actor
  const score = async ({ batch }: TracedRows): Promise<Scored> => {
    actor.upload(batch, rows)
    actor.computeLogProbs(phase, rows)
    if (hasReference) actor.computeRefLogProb(phase, rows)
    const { old_log_probs, ref_log_prob, sum_pi_squared } = tensors.batch
    const [policy, reference, squares] = await gpu.read(old_log_probs, ref_log_prob, sum_pi_squared)
    return {
      policy,
      reference: hasReference ? reference : undefined,
      sum_p_squared: squares,
    }
  }
  return async ({ micro_batches }) => {
    const replayed: ReplayedMicroBatch[] = []
    actor.beginStep()
    trainable.clearGradients()
    actor.beginTrace()
    for (const micro of micro_batches) {
      const mismatched = micro.mismatched && (await score(micro.mismatched))
      const scored = await score(micro.rows)
      const found = updateOf(trained, micro, scored, mismatched)
      const share = -1 / micro_batches.length
      const advantages = Float32Array.from(found.d_log_probs, (d) => share * d)
      actor.uploadColumns({ advantages })
      actor.accumulate(micro.rows.batch, phase, rows, { first: 0, step: 0 })
      const [entropies] = await gpu.read(tensors.trace.entropy)
      replayed.push({ scored, mismatched, found, entropies })
    }
    trainable.apply(
      phase.target_layer,
      phase.actor.optim,
      phase.actor.grad_clip,
      phase.actor.optim.lr,
    )
    const [history] = await gpu.read(tensors.history)
    const grad_norm = controlOf(history, 'grad_norm')
    return { micro_batches: replayed, grad_norm, weights: await weightsOf(c, trainable) }
  }
}

/** In float64. */
export function replayRef({ model }: TraceCase, { plan }: TracedRun): Replay {
  const { phase, hasReference, trained } = plan
  const { config } = model
  const trainable = new RefTrainable(model.layout, model.weights)
  const start = trainable.copy()
  const { params } = trainable
  const layer = phase.target_layer
  const forward = (of: typeof params, { batch }: TracedRows) =>
    forwardRef(config, of, { ...batch, width: widthOf(batch) })
  const score = (rows: TracedRows) => {
    const response = refResponse(rows.batch)
    const cache = forward(params, rows)
    const { log_probs, entropy } = policyRef(config, params, cache, layer, response)
    const sum_p_squared = new Float64Array(log_probs.length)
    const hits = new Float64Array(log_probs.length)
    eachResponseToken(config, params, cache, layer, response, (i, _, logP) => {
      sum_p_squared[i] = logP.reduce((sum, lp) => sum + Math.exp(2 * lp), 0)
      hits[i] = logP[rows.batch.response_ids[i]] === Math.max(...logP) ? 1 : 0
    })
    const reference = hasReference
      ? policyRef(config, start, forward(start, rows), layer, response).log_probs
      : undefined
    return { scored: { policy: log_probs, reference, sum_p_squared }, cache, entropy, hits }
  }
  return async ({ micro_batches }) => {
    const total: Record<string, Float64Array> = {}
    const replayed = micro_batches.map((micro): ReplayedMicroBatch => {
      const mismatched = micro.mismatched && score(micro.mismatched).scored
      const { scored, cache, entropy, hits } = score(micro.rows)
      const found = updateOf(trained, micro, scored, mismatched)
      const d_log_probs = found.d_log_probs.map((d) => d / micro_batches.length)
      const d_entropy = new Float64Array(d_log_probs.length)
      const terms = { ...refResponse(micro.rows.batch), d_log_probs, d_entropy }
      for (const [name, g] of Object.entries(backwardRef(config, params, cache, layer, terms)))
        total[name] = total[name]?.map((x, i) => x + g[i]) ?? g
      return { scored, mismatched, found, entropies: entropy, hits }
    })
    const { optim, grad_clip } = phase.actor
    const grad_norm = trainable.step(total, layer, optim, grad_clip)
    return { micro_batches: replayed, grad_norm, weights: trainable.copy() }
  }
}
