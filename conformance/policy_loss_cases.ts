// Runs golden cases of policy losses, aggregation and micro-batches.

import type { Gpu } from '../src/kernels/device/gpu.ts'
import type { LossAggMode } from '../src/kernels/policy_loss/aggregations/aggregations.ts'
import { aggLossRef } from '../src/kernels/policy_loss/loss_weights.ref.ts'
import type { Objective } from '../src/rl/learners/objective.ts'
import { LOSS_MODES, type LossMode } from '../src/rl/losses/losses.ts'
import { policyLossRef } from '../src/rl/losses/policy_loss.ref.ts'
import { CaseError } from './base/fields.ts'
import type { Handler, Outputs } from './base/fixture.ts'
import { withScratch } from './base/gpu_scratch.ts'
import {
  type LossBatch,
  type LossSettings,
  liveOf,
  liveOfPart,
  lossMetrics,
  objectiveTensors,
  readAggregation,
  readLossBatch,
  readLossSettings,
  rowsOf,
  runObjective,
} from './base/objective_run.ts'
import type { Output } from './base/report.ts'
import { F64, f64Metrics, GPU_GRADIENT, GPU_VALUE, PRODUCTION, within } from './base/tolerances.ts'

/** An objective of a policy loss alone. */
export const plainObjective = (loss_mode: LossMode, loss_agg_mode: LossAggMode): Objective => ({
  loss_mode,
  loss_agg_mode,
  kl_loss_type: null,
  bypass: null,
})

/** The config of policyLossRef. */
export const refConfig = ({ actor, aggregation }: LossSettings) => ({ ...actor, ...aggregation })

function reference(
  loss_mode: LossMode,
  settings: LossSettings,
  batch: LossBatch,
  tolerance: Output['tolerance'],
): Outputs {
  const found = policyLossRef(loss_mode, refConfig(settings), batch)
  return within(tolerance, {
    loss: found.loss,
    grad_log_prob: found.d_log_probs,
    metrics: found.metrics,
  })
}

const onGpu = (gpu: Gpu, loss_mode: LossMode, settings: LossSettings, batch: LossBatch) =>
  withScratch(gpu, async (scratch): Promise<Outputs> => {
    const objective = plainObjective(loss_mode, settings.aggregation.loss_agg_mode)
    const live = liveOf(settings, loss_mode, batch)
    const tensors = objectiveTensors(scratch, batch)
    const found = await runObjective(scratch, objective, live, tensors)
    return {
      ...within(GPU_VALUE, {
        loss: found.sums['actor/pg_loss'],
        metrics: lossMetrics(found, loss_mode, live, batch),
      }),
      ...within(GPU_GRADIENT, { grad_log_prob: found.d_log_probs }),
    }
  })

function policyLoss(loss_mode: LossMode, tolerance: Output['tolerance'] = f64Metrics): Handler {
  return ({ inputs, config, source }) => {
    const batch = readLossBatch(
      inputs,
      loss_mode === 'reinforce' ? 'rollout_log_prob' : 'old_log_prob',
    )
    const settings = readLossSettings(config, { source })
    return [
      { on: 'reference', run: () => reference(loss_mode, settings, batch, tolerance) },
      { on: 'gpu', run: (gpu) => onGpu(gpu, loss_mode, settings, batch) },
    ]
  }
}

/** `policy_loss_vanilla` of production_float32. */
export const productionVanilla = policyLoss('vanilla', PRODUCTION)

/** The kernels aggregate nothing but losses; with advantage -1 gpg's loss of a token is its
 * log-prob, here the given loss. */
const agg_loss: Handler = ({ inputs, config, source }) => {
  const lossMat = inputs.matrix('loss_mat')
  const { rows, columns } = lossMat
  const response_mask = inputs.matrix('loss_mask', lossMat).data
  const aggregation = readAggregation(config, { source })
  const settings = { ...readLossSettings(config, { source }), aggregation }
  const batch: LossBatch = {
    rows,
    response_length: columns,
    response_mask,
    log_probs: lossMat.data,
    old_log_probs: lossMat.data,
    advantages: new Float64Array(rows * columns).fill(-1),
    rollout_is_weights: null,
  }
  const run = () => {
    const { loss, d_loss_mat } = aggLossRef(lossMat.data, response_mask, columns, aggregation)
    return within(F64, { loss, grad_loss_mat: d_loss_mat })
  }
  return [
    { on: 'reference', run },
    {
      on: 'gpu',
      run: async (gpu) => {
        const { loss, grad_log_prob } = await onGpu(gpu, 'gpg', settings, batch)
        return { loss, grad_loss_mat: grad_log_prob }
      },
    },
  ]
}

type LossAndGradient = { readonly loss: number; readonly grad_log_prob: ArrayLike<number> }

/** Sums the losses of micro-batches and joins their gradients. */
function joined(parts: readonly LossAndGradient[]): LossAndGradient {
  return {
    loss: parts.reduce((sum, { loss }) => sum + loss, 0),
    grad_log_prob: Float64Array.from(parts.flatMap((part) => Array.from(part.grad_log_prob))),
  }
}

const micro_batching: Handler = ({ inputs, config, source }) => {
  const batch = readLossBatch(inputs)
  const settings = readLossSettings(config, { source })
  const microRows = config.number('micro_batch_size')
  if (!(microRows > 0) || batch.rows % microRows !== 0)
    throw new CaseError(
      `config.micro_batch_size: ${batch.rows} rows are no multiple of ${microRows}`,
    )
  const microBatches = Array.from({ length: batch.rows / microRows }, (_, i) =>
    rowsOf(batch, i * microRows, microRows),
  )
  return [
    { on: 'reference', run: () => microReference(settings, batch, microBatches) },
    { on: 'gpu', run: (gpu) => microOnGpu(gpu, settings, batch, microBatches) },
  ]
}

const tokensOf = (batch: LossBatch) =>
  Array.from(batch.response_mask).reduce((sum, mask) => sum + mask, 0)

function microReference(
  settings: LossSettings,
  batch: LossBatch,
  microBatches: readonly LossBatch[],
): Outputs {
  const whole = { batch_num_tokens: tokensOf(batch), global_batch_size: batch.rows }
  const loss = (part: LossBatch, counts: object, scale: number): LossAndGradient => {
    const found = policyLossRef('vanilla', { ...refConfig(settings), ...counts }, part)
    const grad_log_prob = found.d_log_probs.map((d) => d * scale)
    return { loss: found.loss * scale, grad_log_prob }
  }
  return within(F64, {
    whole_mini_batch: loss(batch, {}, 1),
    legacy_worker: joined(microBatches.map((part) => loss(part, {}, part.rows / batch.rows))),
    engine_worker: joined(microBatches.map((part) => loss(part, whole, 1))),
  })
}

async function microOnGpu(
  gpu: Gpu,
  settings: LossSettings,
  batch: LossBatch,
  microBatches: readonly LossBatch[],
): Promise<Outputs> {
  const objective = plainObjective('vanilla', settings.aggregation.loss_agg_mode)
  const run = (part: LossBatch, use_legacy_worker_impl: 'enable' | 'disable') =>
    withScratch(gpu, async (scratch): Promise<LossAndGradient> => {
      const actor = { ...settings.actor, use_legacy_worker_impl }
      const counts = {
        miniRows: batch.rows,
        miniTokens: tokensOf(batch),
        microRows: part.rows,
        microTokens: tokensOf(part),
      }
      const live = liveOfPart({ ...settings, actor }, 'vanilla', counts)
      const tensors = objectiveTensors(scratch, part)
      const { sums, d_log_probs } = await runObjective(scratch, objective, live, tensors)
      return { loss: sums['actor/pg_loss'], grad_log_prob: d_log_probs }
    })
  const all = async (rule: 'enable' | 'disable') => {
    const parts = []
    for (const part of microBatches) parts.push(await run(part, rule))
    return joined(parts)
  }
  const tolerance = (path: string) => (path.includes('grad') ? GPU_GRADIENT : GPU_VALUE)
  return within(tolerance, {
    whole_mini_batch: await run(batch, 'enable'),
    legacy_worker: await all('enable'),
    engine_worker: await all('disable'),
  })
}

export const POLICY_LOSS_CASES: Readonly<Record<string, Handler>> = {
  agg_loss,
  micro_batching,
  ...Object.fromEntries(LOSS_MODES.map((name) => [`policy_loss_${name}`, policyLoss(name)])),
}
