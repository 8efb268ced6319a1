// Replays the updates of a recorded distillation: by the trainer's actor on the GPU, and in
// float64.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import {
  backwardDistributionsRef,
  distributionsRef,
} from '../../src/model/transformer/distributions.ref.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { type RolloutBatch, tokenCount } from '../../src/rl/experience/batch.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import { jsdToken } from '../../src/rl/teachers/jsd.ref.ts'
import { goldenActor, goldenPhase } from '../hf/golden_actor.ts'
import { paramsOf, refResponse, widthOf } from '../hf/model_case.ts'
import { RefTrainable } from '../hf/ref_trainable.ts'
import { controlOf, weightsOf } from '../hf/trainer_runs.ts'
import type { DistillCase, DistillMicroBatch, DistillRun, DistillUpdate } from './trace_file.ts'

type Numbers = ArrayLike<number>

export interface ReplayedMicroBatch {
  readonly loss: number
  /** Of the student, over response tokens. */
  readonly entropy_sum: number
}

export interface ReplayedUpdate {
  readonly micro_batches: readonly ReplayedMicroBatch[]
  readonly grad_norm: number
  readonly weights: Readonly<Record<string, Numbers>>
}

/** How one place reads both models, and takes a step over all micro-batches of an update. */
export interface Machine {
  /** Log-probs of every token of the vocabulary, [B, R, V]. */
  student(batch: RolloutBatch): Promise<Numbers>
  teacher(batch: RolloutBatch): Promise<Numbers>
  begin(): void
  /** Adds the gradient of Σ d_log_probs · logProbs. */
  add(batch: RolloutBatch, d_log_probs: Float64Array): Promise<void>
  step(): Promise<Omit<ReplayedUpdate, 'micro_batches'>>
}

/** Every update of a run in its order. */
export async function* replayed(
  run: DistillRun,
  machine: Machine,
): AsyncGenerator<readonly [DistillUpdate, ReplayedUpdate]> {
  for (const update of run.updates) {
    machine.begin()
    const micro_batches: ReplayedMicroBatch[] = []
    for (const micro of update.micro_batches) {
      const student = await machine.student(micro.batch)
      const teacher = await machine.teacher(micro.batch)
      const { d_log_probs, ...found } = divergence(run, micro, student, teacher)
      await machine.add(micro.batch, d_log_probs)
      micro_batches.push(found)
    }
    yield [update, { micro_batches, ...(await machine.step()) }]
  }
}

/** Generalized JSD over the response tokens, divided by those of the whole update. */
function divergence(
  { beta }: DistillRun,
  { batch, num_items_in_batch }: DistillMicroBatch,
  student: Numbers,
  teacher: Numbers,
): ReplayedMicroBatch & { readonly d_log_probs: Float64Array } {
  const V = student.length / batch.response_mask.length
  const d_log_probs = new Float64Array(student.length)
  let [loss, entropy_sum] = [0, 0]
  for (const [i, m] of batch.response_mask.entries()) {
    if (m === 0) continue
    const cut = (x: Numbers) => Float64Array.from({ length: V }, (_, v) => x[i * V + v])
    const own = cut(student)
    const token = jsdToken(own, cut(teacher), beta)
    loss += token.loss / num_items_in_batch
    d_log_probs.set(
      token.d_log_probs.map((d) => d / num_items_in_batch),
      i * V,
    )
    entropy_sum -= own.reduce((sum, lp) => sum + Math.exp(lp) * lp, 0)
  }
  return { loss, entropy_sum, d_log_probs }
}

/** In float64. */
export function refMachine({ student, teacher }: DistillCase, run: DistillRun): Machine {
  const trainable = new RefTrainable(student.layout, student.weights)
  let grads: RefArrays = {}
  const read = ({ config }: HfModel, params: RefArrays, batch: RolloutBatch) => ({
    cache: forwardRef(config, params, { ...batch, width: widthOf(batch) }),
    response: refResponse(batch, run.temperature),
    layer: config.num_hidden_layers,
  })
  const all = (model: HfModel, params: RefArrays, batch: RolloutBatch) => {
    const { cache, response, layer } = read(model, params, batch)
    return distributionsRef(model.config, params, cache, layer, response)
  }
  const ofTeacher = paramsOf(teacher)
  return {
    student: async (batch) => all(student, trainable.params, batch),
    teacher: async (batch) => all(teacher, ofTeacher, batch),
    begin: () => {
      grads = {}
    },
    add: async (batch, d_log_probs) => {
      const { params } = trainable
      const { cache, response, layer } = read(student, params, batch)
      const terms = { ...response, d_log_probs }
      backwardDistributionsRef(student.config, params, cache, layer, terms, grads)
    },
    step: async () => ({
      grad_norm: trainable.step(grads, student.config.num_hidden_layers, run.optim, run.grad_clip),
      weights: trainable.copy(),
    }),
  }
}

/** By the actor that runs train with. Its vocabulary head scores one token per place, so a whole
 * distribution is as many passes as the vocabulary has tokens, forwards and back: REINFORCE, whose
 * advantages are the derivatives by each token's log-prob. */
export async function gpuMachine(c: DistillCase, run: DistillRun, gpu: Gpu): Promise<Machine> {
  const [{ batch: first }] = run.updates[0].micro_batches
  const vocabulary = c.student.config.vocab_size
  const readerOf = async (model: HfModel) => {
    const layer = model.config.num_hidden_layers
    const plain = goldenPhase(
      layer,
      { batch: first.rows, mini: first.rows },
      { loss_mode: 'reinforce', loss_agg_mode: 'token-mean', entropy_coeff: 0, use_kl_loss: false },
    )
    const phase = { ...plain, rollout: { ...plain.rollout, temperature: run.temperature } }
    const rows = phaseRows(phase, widthOf(first), model.config)
    const actor = await goldenActor({ model, matmul: c.matmul }, gpu, first, [phase], {
      microRows: rows.micro,
    })
    const scoring = (batch: RolloutBatch, v: number): RolloutBatch => ({
      ...batch,
      response_ids: new Uint32Array(batch.response_ids.length).fill(v),
    })
    const all = async (batch: RolloutBatch) => {
      const found = new Float64Array(batch.response_mask.length * vocabulary)
      for (let v = 0; v < vocabulary; v++) {
        actor.upload(scoring(batch, v), rows)
        actor.computeLogProbs(phase, rows)
        const [logProbs] = await gpu.read(actor.tensors.batch.old_log_probs)
        for (let i = 0; i < logProbs.length; i++) found[i * vocabulary + v] = logProbs[i]
      }
      return found
    }
    return { actor, phase, rows, scoring, all, layer }
  }
  const student = await readerOf(c.student)
  const teacher = await readerOf(c.teacher)
  const { actor, phase, rows, scoring, layer } = student
  const { tensors, trainable } = actor
  return {
    student: student.all,
    teacher: teacher.all,
    begin: () => {
      actor.beginStep()
      trainable.clearGradients()
    },
    add: async (batch, d_log_probs) => {
      const tokens = tokenCount(batch)
      for (let v = 0; v < vocabulary; v++) {
        const advantages = Float32Array.from(
          batch.response_mask,
          (_, i) => -d_log_probs[i * vocabulary + v] * tokens,
        )
        const scored = scoring(batch, v)
        actor.upload(scored, rows, { advantages })
        actor.accumulate(scored, phase, rows, { first: 0, step: 0 })
      }
    },
    step: async () => {
      trainable.apply(layer, run.optim, run.grad_clip, run.optim.lr)
      const [history] = await gpu.read(tensors.history)
      const weights = await weightsOf({ model: c.student }, trainable)
      return { grad_norm: controlOf(history, 'grad_norm'), weights }
    },
  }
}
