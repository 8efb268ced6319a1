// Runs golden cases of the critic's loss and of KL estimates.
import type { Gpu } from '../src/kernels/device/gpu.ts'
import { klLossRef } from '../src/kernels/kl/kl.ref.ts'
import { kl_loss } from '../src/kernels/kl/kl.ts'
import { KL_PENALTIES, type KlPenalty, klKind, klPenalty } from '../src/kernels/kl/kl_penalty.ts'
import { LOSS_AGG_MODES } from '../src/kernels/policy_loss/aggregations/aggregations.ts'
import {
  type Aggregation,
  aggregationParams,
  loss_weights,
} from '../src/kernels/policy_loss/loss_weights.ts'
import { POLICY_LOSS_SUMS } from '../src/kernels/policy_loss/policy_loss_frame.ts'
import { type ValueLossBatch, valueLossRef } from '../src/kernels/value_loss/value_loss.ref.ts'
import { VALUE_LOSS_SUMS, value_loss as valueLoss } from '../src/kernels/value_loss/value_loss.ts'
import type { Handler } from './base/fixture.ts'
import { type Scratch, withScratch } from './base/gpu_scratch.ts'
import { readAggregation } from './base/objective_run.ts'
import { F64, f64Metrics, GPU_GRADIENT, GPU_VALUE, within } from './base/tolerances.ts'

const value_loss: Handler = ({ inputs, config, source }) => {
  const mask = inputs.matrix('response_mask')
  const batch: ValueLossBatch = {
    response_mask: mask.data,
    response_length: mask.columns,
    vpreds: inputs.matrix('vpreds', mask).data,
    values: inputs.matrix('values', mask).data,
    returns: inputs.matrix('returns', mask).data,
  }
  const aggregation = readAggregation(config, { source })
  const settings = { ...aggregation, cliprange_value: config.number('cliprange_value') }
  const reference = () => {
    const { loss, d_vpreds, metrics } = valueLossRef(settings, batch)
    const vf_clipfrac = metrics['critic/vf_clipfrac']
    return within(f64Metrics, { vf_loss: loss, grad_vpreds: d_vpreds, vf_clipfrac })
  }
  const onGpu = (gpu: Gpu) =>
    withScratch(gpu, async (scratch) => {
      const { sums, d_vpreds } = await runValueLoss(scratch, settings, batch)
      const named = Object.fromEntries(VALUE_LOSS_SUMS.map((name, i) => [name, sums[i]]))
      const { 'critic/vf_loss': vf_loss } = named
      // A share of the mini-batch that the counts speak of; verl's is one of the tokens of the
      // call.
      const { token_count } = aggregationParams(settings)
      const own = mask.data.reduce((a, b) => a + b, 0)
      const vf_clipfrac =
        named['critic/vf_clipfrac'] * (token_count > 0 && own > 0 ? token_count / own : 1)
      return {
        ...within(GPU_VALUE, { vf_loss, vf_clipfrac }),
        ...within(GPU_GRADIENT, { grad_vpreds: d_vpreds }),
      }
    })
  return [
    { on: 'reference', run: reference },
    { on: 'gpu', run: onGpu },
  ]
}

async function runValueLoss(
  { gpu, f32, output, zeros }: Scratch,
  settings: Aggregation & { readonly cliprange_value: number },
  batch: ValueLossBatch,
) {
  const tokens = batch.response_mask.length
  const rows = tokens / batch.response_length
  const mode = LOSS_AGG_MODES.indexOf(settings.loss_agg_mode)
  const tensors = {
    response_mask: f32('response_mask', [tokens], batch.response_mask),
    rollout_is_weights: f32('ones', [tokens], new Float64Array(tokens).fill(1)),
    token_weights: output('token_weights', [tokens]),
    loss_weights: output('loss_weights', [tokens]),
    pg_weights: output('pg_weights', [tokens]),
    vpreds: f32('vpreds', [tokens], batch.vpreds),
    values: f32('values', [tokens], batch.values),
    returns: f32('returns', [tokens], batch.returns),
    d_vpreds: output('d_vpreds', [tokens]),
    sums: zeros('sums', [VALUE_LOSS_SUMS.length]),
  }
  const weights = { rows, response_length: batch.response_length, loss_agg_mode: mode }
  await gpu.run(
    loss_weights,
    { ...weights, pg_agg_mode: mode, ...aggregationParams(settings), scale: 1 },
    tensors,
  )
  await gpu.run(valueLoss, { tokens, cliprange_value: settings.cliprange_value }, tensors)
  const [d_vpreds, sums] = await gpu.read(tensors.d_vpreds, tensors.sums)
  return { d_vpreds, sums }
}

const GRADIENT = 'grad_logprob_of_sum_upstream_kld'

const kl_penalty: Handler = ({ inputs, config }) => {
  const logprob = inputs.matrix('logprob')
  const log_probs = logprob.data
  const ref_log_prob = inputs.matrix('ref_logprob', logprob).data
  const upstream = inputs.matrix('upstream', logprob).data
  const kl_loss_type = config.choice('kl_penalty', KL_PENALTIES)
  const ones = upstream.map(() => 1)
  const driver = () => {
    const tokens = Array.from(log_probs, (x, i) => klPenalty(kl_loss_type, x, ref_log_prob[i]))
    return within(F64, {
      kld: Float64Array.from(tokens, ({ value }) => value),
      [GRADIENT]: Float64Array.from(tokens, ({ slope }, i) => upstream[i] * slope),
    })
  }
  const reference = () => {
    const run = (loss_weights: Float64Array) =>
      klLossRef({ kl_loss_type, kl_loss_coef: 1 }, { log_probs, ref_log_prob, loss_weights })
    return within(F64, { kld: run(ones).kld, [GRADIENT]: run(upstream).d_log_probs })
  }
  const onGpu = async (gpu: Gpu) => {
    const batch = { log_probs, ref_log_prob }
    const { kld } = await runKlLoss(gpu, kl_loss_type, { ...batch, loss_weights: ones })
    const weighted = await runKlLoss(gpu, kl_loss_type, { ...batch, loss_weights: upstream })
    return {
      ...within(GPU_VALUE, { kld }),
      ...within(GPU_GRADIENT, { [GRADIENT]: weighted.d_log_probs }),
    }
  }
  return [
    { on: 'driver', run: driver },
    { on: 'reference', run: reference },
    { on: 'gpu', run: onGpu },
  ]
}

const runKlLoss = (
  gpu: Gpu,
  kind: KlPenalty,
  batch: Record<'log_probs' | 'ref_log_prob' | 'loss_weights', Float64Array>,
) =>
  withScratch(gpu, async ({ f32, output, zeros }) => {
    const tokens = batch.log_probs.length
    const tensors = {
      log_probs: f32('log_probs', [tokens], batch.log_probs),
      ref_log_prob: f32('ref_log_prob', [tokens], batch.ref_log_prob),
      loss_weights: f32('loss_weights', [tokens], batch.loss_weights),
      kld: output('kld', [tokens]),
      // Added to, not overwritten.
      d_log_probs: zeros('d_log_probs', [tokens]),
      sums: zeros('sums', [POLICY_LOSS_SUMS.length]),
    }
    await gpu.run(kl_loss, { tokens, ...klKind(kind), kl_loss_coef: 1 }, tensors)
    const [kld, d_log_probs] = await gpu.read(tensors.kld, tensors.d_log_probs)
    return { kld, d_log_probs }
  })

export const LOSS_CASES: Readonly<Record<string, Handler>> = { kl_penalty, value_loss }
