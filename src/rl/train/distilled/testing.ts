// Makes phases that learn from a teacher, and phases whose inner layers learn along, for tests:
// their settings, and one update from a teacher in float64.
import { modelShape } from '../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../model/layout/params.ts'
import {
  backwardDistributionsRef,
  distributionsRef,
} from '../../../model/transformer/distributions.ref.ts'
import type { RefArrays } from '../../../model/transformer/operations.ref.ts'
import { type RefTranslators, refReadout } from '../../../model/transformer/policy.ref.ts'
import type { Sample } from '../../../tasks/task/task.ts'
import type { Distillation } from '../../config/distillation.ts'
import type { DistillPhase, RlPhase } from '../../config/phase.ts'
import { makeBatch, promptBatch, type RolloutBatch } from '../../experience/batch.ts'
import { jsdToken } from '../../teachers/jsd.ref.ts'
import { CONFIG, OPTIM, RL } from '../../testing.ts'
import type { Learner } from '../learner.ref.ts'

/** The batch of answers that a run has told as texts. */
export function toldBatch(
  samples: readonly Sample[],
  told: readonly { readonly response: string; readonly is_ended: boolean }[],
): RolloutBatch {
  const { task } = CONFIG
  const { pad_token_id, eos_token_id, eos_token_ids } = task.tokenizer
  const { max_prompt_length: prompt_length, max_response_length: R } = task
  const responseIds = new Uint32Array(told.length * R).fill(pad_token_id)
  told.forEach(({ response, is_ended }, b) => {
    const ids = (response.match(/<pad>|./g) ?? []).map((token) =>
      token === '<pad>' ? pad_token_id : task.tokenizer.encode(token)[0],
    )
    responseIds.set(is_ended ? [...ids, eos_token_id] : ids, b * R)
  })
  const size = { rows: told.length, prompt_length, response_length: R }
  return makeBatch(promptBatch(samples, task), responseIds, size, eos_token_ids)
}

export const distillPhase = (
  distillation: Partial<Distillation>,
  change: Partial<DistillPhase> = {},
): DistillPhase => ({
  kind: 'distill',
  name: 'distil',
  steps: 3,
  batch_size: 8,
  target_layer: 2,
  layers: [],
  grad_clip: 1,
  optim: OPTIM,
  ...change,
  distillation: {
    teacher: 'final',
    ema_decay: 0.6,
    lmbda: 0,
    beta: 0.5,
    temperature: 1,
    ...distillation,
  },
})

/** Reinforcement of the whole model whose inner layers learn along. */
export const alongPhase = (objective: 'self_distill' | 'deep_supervision'): RlPhase => ({
  ...RL,
  actor: {
    ...RL.actor,
    inner: { ...RL.actor.inner, objective, layers: '1,2', weights: '0.5,1' },
  },
})

/** Wider, and deeper. */
export const LARGER = { ...CONFIG.model, hidden_size: 24, num_hidden_layers: 4 }
export const larger = initialWeights(paramLayout(modelShape(LARGER)), 5).map((x) => 4 * x)

/** One update in float64. */
export function float64Step(
  learner: Learner,
  phase: DistillPhase,
  batch: RolloutBatch,
  {
    average,
    other,
    translators,
  }: {
    readonly average: RefArrays
    readonly other: Learner | undefined
    readonly translators?: RefTranslators
  },
) {
  const { model } = CONFIG
  const { beta, temperature, teacher } = phase.distillation
  const response = {
    ...batch,
    width: batch.prompt_length + batch.response_length,
    first_column: batch.prompt_length - 1,
    temperature,
    readout: undefined,
    translators,
  }
  const { params } = learner
  const cache = learner.forward(response)
  const L = model.num_hidden_layers
  const taughtBy = () => {
    if (teacher === 'final') return distributionsRef(model, params, cache, L, response)
    if (!other)
      return distributionsRef(model, average, learner.forward(response, average), L, response)
    const { num_hidden_layers: last } = LARGER
    return distributionsRef(LARGER, other.params, other.forward(response), last, response)
  }
  const taught = taughtBy()
  const V = model.vocab_size
  const tokens = batch.response_mask.reduce((sum, m) => sum + m, 0)
  const grads: RefArrays = {}
  let loss = 0
  for (const layer of [phase.target_layer, ...phase.layers]) {
    const read = { ...response, readout: refReadout(phase.target_readout, layer, translators) }
    const own = distributionsRef(model, params, cache, layer, read)
    const d_log_probs = new Float64Array(own.length)
    for (const [i, m] of batch.response_mask.entries()) {
      if (m === 0) continue
      const cut = (x: Float64Array) => x.subarray(i * V, (i + 1) * V)
      const token = jsdToken(cut(own), cut(taught), beta)
      loss += token.loss / tokens
      d_log_probs.set(
        token.d_log_probs.map((d) => d / tokens),
        i * V,
      )
    }
    backwardDistributionsRef(model, params, cache, layer, { ...read, d_log_probs }, grads)
  }
  const weight = phase.distillation.crossentropy_weight ?? 0
  const crossentropy = weight > 0 ? imitate(learner, batch, weight, grads) : undefined
  const grad_norm = learner.apply(grads, phase, phase.optim, phase.grad_clip)
  return { loss, crossentropy, grad_norm }
}

/** The mean cross-entropy of the answers under the whole model; `weight` times its gradient is
 * added. */
function imitate(learner: Learner, batch: RolloutBatch, weight: number, grads: RefArrays): number {
  const { model } = CONFIG
  const { num_hidden_layers: L, vocab_size: V } = model
  const { params } = learner
  const P = batch.prompt_length
  const R = batch.response_length
  const response = {
    ...batch,
    width: P + R,
    first_column: P - 1,
    temperature: 1,
    readout: undefined,
    translators: undefined,
  }
  const cache = learner.forward(response)
  const own = distributionsRef(model, params, cache, L, response)
  const tokens = batch.response_mask.reduce((sum, m) => sum + m, 0)
  const d_log_probs = new Float64Array(own.length)
  let sum = 0
  for (const [i, m] of batch.response_mask.entries()) {
    if (m === 0) continue
    const at = i * V + batch.input_ids[Math.floor(i / R) * (P + R) + P + (i % R)]
    sum -= own[at]
    d_log_probs[at] = -weight / tokens
  }
  backwardDistributionsRef(model, params, cache, L, { ...response, d_log_probs }, grads)
  return sum / tokens
}
