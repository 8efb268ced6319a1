// Runs golden cases that begin at logits: log-probs, entropy, alignment of responses, the actor's
// whole loss.
import type { Gpu } from '../src/kernels/device/gpu.ts'
import { klLossRef } from '../src/kernels/kl/kl.ref.ts'
import { KL_PENALTIES, type KlPenalty } from '../src/kernels/kl/kl_penalty.ts'
import { aggLossRef } from '../src/kernels/policy_loss/loss_weights.ref.ts'
import type { VocabHeadKernels } from '../src/kernels/vocab_head/vocab_head.ts'
import { attentionResponseMask, positionIds, responseMask } from '../src/rl/experience/batch.ts'
import { policyLossRef } from '../src/rl/losses/policy_loss.ref.ts'
import { CaseError } from './base/fields.ts'
import type { Handler, Outputs, Part } from './base/fixture.ts'
import { withScratch } from './base/gpu_scratch.ts'
import {
  type LossBatch,
  type LossSettings,
  liveOf,
  lossMetrics,
  objectiveTensors,
  readLossSettings,
  runObjective,
} from './base/objective_run.ts'
import { F64, f64Metrics, GPU_GRADIENT, GPU_VALUE, within } from './base/tolerances.ts'
import {
  type HeadCase,
  headBackward,
  headBackwardRef,
  headCase,
  headForward,
  headForwardRef,
  headVariants,
} from './head_run.ts'
import { plainObjective, refConfig } from './policy_loss_cases.ts'

/** One part per set of kernels that can run the case. */
const gpuParts = (
  one: HeadCase,
  run: (gpu: Gpu, kernels: VocabHeadKernels, one: HeadCase) => Promise<Outputs>,
): Part[] =>
  headVariants(one).map(({ variant, kernels, one: shaped }) => ({
    on: 'gpu',
    variant,
    run: (gpu) => run(gpu, kernels, shaped),
  }))

const logprobs_entropy: Handler = ({ inputs }) => {
  const labels = inputs.matrix('labels')
  const slice = { first_column: 0, response_length: labels.columns, temperature: 1 }
  const one = headCase(inputs, slice, labels.data)
  const weights = {
    log_probs: inputs.matrix('logprob_weights', labels).data,
    entropy: inputs.matrix('entropy_weights', labels).data,
  }
  const none = labels.data.map(() => 0)
  const reference = () => {
    const { log_probs, entropy, sum_pi_squared } = headForwardRef(one)
    return within(F64, {
      logprobs: log_probs,
      entropy,
      sum_pi_squared,
      grad_logits_of_sum_weighted_logprobs: headBackwardRef(one, weights.log_probs, none),
      grad_logits_of_sum_weighted_entropy: headBackwardRef(one, none, weights.entropy),
    })
  }
  const onGpu = (gpu: Gpu, kernels: VocabHeadKernels, shaped: HeadCase) =>
    withScratch(gpu, async (scratch): Promise<Outputs> => {
      const tensors = await headForward(scratch, kernels, shaped)
      const backward = (d_log_probs: Float64Array, d_entropy: Float64Array) =>
        headBackward(scratch, kernels, shaped, tensors, {
          d_log_probs: scratch.f32('d_log_probs', [d_log_probs.length], d_log_probs),
          d_entropy: scratch.f32('d_entropy', [d_entropy.length], d_entropy),
        })
      const { log_probs, entropy, sum_pi_squared } = tensors
      const [logprobs, entropies, squares] = await gpu.read(log_probs, entropy, sum_pi_squared)
      return {
        ...within(GPU_VALUE, { logprobs, entropy: entropies, sum_pi_squared: squares }),
        ...within(GPU_GRADIENT, {
          grad_logits_of_sum_weighted_logprobs: await backward(weights.log_probs, none),
          grad_logits_of_sum_weighted_entropy: await backward(none, weights.entropy),
        }),
      }
    })
  return [{ on: 'reference', run: reference }, ...gpuParts(one, onGpu)]
}

/** Columns [first, first + count) of rows of `columns`. */
function columnsOf(x: Float64Array, columns: number, first: number, count: number): Float64Array {
  const rows = x.length / columns
  return Float64Array.from(
    { length: rows * count },
    (_, i) => x[Math.floor(i / count) * columns + first + (i % count)],
  )
}

const response_alignment: Handler = ({ inputs, config }) => {
  const ids = inputs.matrix('input_ids')
  const P = config.number('prompt_length')
  const R = config.number('response_length')
  if (ids.columns !== P + R)
    throw new CaseError(`inputs.input_ids: expected ${P} + ${R} columns, got ${ids.columns}`)
  const attention = inputs.matrix('attention_mask', ids).data
  const eosTokenIds = Array.isArray(config.raw('eos_token_id'))
    ? [...config.vector('eos_token_id')]
    : [config.number('eos_token_id')]
  // The lab tells padding by the mask, never by the token.
  config.ignore('pad_token_id')
  const responseIds = columnsOf(ids.data, P + R, P, R)
  const slice = { first_column: P - 1, response_length: R, temperature: 1 }
  const one = headCase(inputs, slice, responseIds)
  const driver = () =>
    within('exact', {
      response_mask_from_eos: responseMask(responseIds, R, eosTokenIds),
      response_mask_from_attention: attentionResponseMask(attention, P + R, R),
      position_ids: positionIds(attention, P + R),
    })
  const reference = () => within(F64, { response_log_probs: headForwardRef(one).log_probs })
  const onGpu = (gpu: Gpu, kernels: VocabHeadKernels, shaped: HeadCase) =>
    withScratch(gpu, async (scratch): Promise<Outputs> => {
      const { log_probs } = await headForward(scratch, kernels, shaped)
      const [response_log_probs] = await gpu.read(log_probs)
      return within(GPU_VALUE, { response_log_probs })
    })
  return [
    { on: 'driver', run: driver },
    { on: 'reference', run: reference },
    ...gpuParts(one, onGpu),
  ]
}

/** The actor's loss beside the policy loss. */
interface ActorTerms {
  readonly settings: LossSettings
  readonly entropy_coeff: number
  readonly kl_loss_coef: number
  /** null = no KL term. */
  readonly kl_loss_type: KlPenalty | null
  readonly ref_log_prob: Float64Array
}

const actor_total_loss: Handler = ({ inputs, config, source }) => {
  const labels = inputs.matrix('labels')
  const temperature = config.number('temperature', 1)
  const slice = { first_column: 0, response_length: labels.columns, temperature }
  const one = headCase(inputs, slice, labels.data)
  const batch = {
    rows: labels.rows,
    response_length: labels.columns,
    response_mask: inputs.matrix('response_mask', labels).data,
    old_log_probs: inputs.matrix('old_log_prob', labels).data,
    advantages: inputs.matrix('advantages', labels).data,
    rollout_is_weights: inputs.optionalMatrix('rollout_is_weights', labels)?.data ?? null,
  }
  const useKlLoss = config.flag('use_kl_loss', false)
  const kl_loss_type = config.choice('kl_loss_type', KL_PENALTIES, 'low_var_kl')
  const ref_log_prob = inputs.optionalMatrix('ref_log_prob', labels)?.data
  if (useKlLoss && !ref_log_prob) throw new CaseError('inputs.ref_log_prob: use_kl_loss needs it')
  const terms: ActorTerms = {
    settings: readLossSettings(config, { source }),
    entropy_coeff: config.number('entropy_coeff', 0),
    kl_loss_coef: config.number('kl_loss_coef', 0.001),
    kl_loss_type: useKlLoss ? kl_loss_type : null,
    ref_log_prob: ref_log_prob ?? labels.data.map(() => 0),
  }
  return [
    { on: 'reference', run: () => totalReference(terms, one, batch) },
    ...gpuParts(one, (gpu, kernels, shaped) => totalOnGpu(gpu, terms, kernels, shaped, batch)),
  ]
}

type Sampled = Omit<LossBatch, 'log_probs'>

function totalLoss(
  { entropy_coeff, kl_loss_coef, kl_loss_type }: ActorTerms,
  parts: { pg_loss: number; entropy_agg: number; kl_loss: number },
) {
  const { kl_loss, ...rest } = parts
  const total_loss =
    parts.pg_loss - entropy_coeff * parts.entropy_agg + (kl_loss_type ? kl_loss_coef * kl_loss : 0)
  return { ...rest, total_loss, ...(kl_loss_type ? { kl_loss } : {}) }
}

/** The product has this sum in its kernels only, so the references of its terms are put together
 * here. */
function totalReference(terms: ActorTerms, one: HeadCase, batch: Sampled): Outputs {
  const { settings, entropy_coeff, kl_loss_coef, kl_loss_type, ref_log_prob } = terms
  const { log_probs, entropy } = headForwardRef(one)
  const policy = policyLossRef('vanilla', refConfig(settings), { ...batch, log_probs })
  const aggregate = (x: ArrayLike<number>) =>
    aggLossRef(x, batch.response_mask, batch.response_length, settings.aggregation)
  const { loss: entropy_agg, d_loss_mat: loss_weights } = aggregate(entropy)
  const kl = kl_loss_type
    ? klLossRef({ kl_loss_type, kl_loss_coef }, { log_probs, ref_log_prob, loss_weights })
    : { loss: 0, d_log_probs: new Float64Array(log_probs.length) }
  const d_log_probs = policy.d_log_probs.map((d, i) => d + kl.d_log_probs[i])
  const d_entropy = loss_weights.map((weight) => -entropy_coeff * weight)
  const parts = { pg_loss: policy.loss, entropy_agg, kl_loss: kl.loss }
  return within(f64Metrics, {
    log_prob: log_probs,
    entropy,
    ...totalLoss(terms, parts),
    grad_logits: headBackwardRef(one, d_log_probs, d_entropy),
    metrics: policy.metrics,
  })
}

const totalOnGpu = (
  gpu: Gpu,
  terms: ActorTerms,
  kernels: VocabHeadKernels,
  one: HeadCase,
  sampled: Sampled,
) =>
  withScratch(gpu, async (scratch): Promise<Outputs> => {
    const { settings, entropy_coeff, kl_loss_coef, kl_loss_type, ref_log_prob } = terms
    const head = await headForward(scratch, kernels, one)
    const { log_probs, entropy } = head
    const batch: LossBatch = { ...sampled, log_probs: [] }
    const tensors = objectiveTensors(scratch, batch, {
      log_probs,
      entropy,
      ref_log_prob: scratch.f32('ref_log_prob', log_probs.shape, ref_log_prob),
    })
    const objective = {
      ...plainObjective('vanilla', settings.aggregation.loss_agg_mode),
      kl_loss_type,
    }
    const live = { ...liveOf(settings, 'vanilla', batch), entropy_coeff, kl_loss_coef }
    const found = await runObjective(scratch, objective, live, tensors)
    const grad_logits = await headBackward(scratch, kernels, one, head, tensors)
    const [log_prob, entropies] = await gpu.read(log_probs, entropy)
    const parts = {
      pg_loss: found.sums['actor/pg_loss'],
      entropy_agg: found.sums['actor/entropy'],
      kl_loss: found.sums['actor/kl_loss'],
    }
    const metrics = lossMetrics(found, 'vanilla', live, batch)
    return {
      ...within(GPU_VALUE, { log_prob, entropy: entropies, ...totalLoss(terms, parts), metrics }),
      ...within(GPU_GRADIENT, { grad_logits }),
    }
  })

export const TOKEN_CASES: Readonly<Record<string, Handler>> = {
  actor_total_loss,
  logprobs_entropy,
  response_alignment,
}
