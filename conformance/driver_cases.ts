// Runs golden cases of what the trainer computes on the CPU around the model: KL in the reward,
// validation, data metrics, order.
import { KL_PENALTIES } from '../src/kernels/kl/kl_penalty.ts'
import type { KlControllerConfig } from '../src/rl/config/algorithm.ts'
import { overlongReward, tokenLevelScores } from '../src/rl/config/overlong.ts'
import { applyKlPenalty, klController } from '../src/rl/experience/kl.ts'
import { balanceBatch, calculateWorkload, dynamicMicroBatches } from '../src/rl/math/balance.ts'
import {
  bootstrapIndices,
  bootstrapSizes,
  processValidationMetrics,
  type Variable,
} from '../src/rl/math/validation_metrics.ts'
import { aggregateRanks } from '../src/rl/metrics/aggregate.ts'
import {
  computeDataMetrics,
  computeThroughputMetrics,
  computeTimingMetrics,
  range,
} from '../src/rl/metrics/data_metrics.ts'
import { CaseError, type Fields } from './base/fields.ts'
import type { Handler } from './base/fixture.ts'
import type { Tolerance } from './base/report.ts'
import { F64, f64Metrics, ROUNDED, within } from './base/tolerances.ts'

const readController = (config: Fields): KlControllerConfig => ({
  type: config.choice('type', ['adaptive', 'fixed']),
  kl_coef: config.number('kl_coef'),
  target_kl: config.number('target_kl', 0.1),
  horizon: config.number('horizon', 10000),
})

const kl_controller: Handler = ({ inputs, config }) => {
  const current_kl = inputs.vector('current_kl')
  const nSteps = inputs.vector('n_steps', current_kl.length)
  const settings = readController(config)
  const run = () => {
    const follow = klController(settings)
    const fixed = klController({ ...settings, type: 'fixed' })
    const value_trajectory = [follow.value]
    current_kl.forEach((kl, i) => {
      follow.update(kl, nSteps[i])
      fixed.update(kl, nSteps[i])
      value_trajectory.push(follow.value)
    })
    return within(F64, { value_trajectory, fixed_value_after_update: fixed.value })
  }
  return [{ on: 'driver', run }]
}

const apply_kl_penalty: Handler = ({ inputs, config }) => {
  const mask = inputs.matrix('response_mask')
  const input = {
    response_mask: mask.data,
    response_length: mask.columns,
    token_level_scores: inputs.matrix('token_level_scores', mask).data,
    old_log_probs: inputs.matrix('old_log_probs', mask).data,
    ref_log_prob: inputs.matrix('ref_log_prob', mask).data,
  }
  const klPenalty = config.choice('kl_penalty', KL_PENALTIES)
  const settings = readController(config.fields('kl_ctrl'))
  const run = () => {
    const controller = klController(settings)
    const { token_level_rewards, current_kl, coeff } = applyKlPenalty(input, klPenalty, controller)
    return within(F64, {
      token_level_rewards,
      current_kl,
      coeff_logged: coeff,
      coeff_after_update: controller.value,
    })
  }
  return [{ on: 'driver', run }]
}

/** Answers are voted on as text. */
function readVariable(inputs: Fields, name: string): Variable {
  const value = inputs.raw(name)
  if (name === 'pred' && Array.isArray(value)) return value.map(String)
  const isText = Array.isArray(value) && typeof value[0] === 'string'
  return isText ? inputs.texts(name) : [...inputs.vector(name)]
}

const validation_metrics: Handler = ({ inputs, config }) => {
  const data_sources = inputs.texts('data_sources')
  const sample_uids = inputs.texts('sample_uids')
  const own = new Set(['data_sources', 'sample_uids'])
  const names = inputs.names().filter((name) => !own.has(name) && inputs.has(name))
  const variables = Object.fromEntries(names.map((name) => [name, readVariable(inputs, name)]))
  const options = {
    seed: config.number('seed', 42),
    n_bootstrap: config.number('n_bootstrap', 1000),
  }
  const responses = sample_uids.filter((uid) => uid === sample_uids[0]).length
  const run = () => {
    const metrics = processValidationMetrics({ data_sources, sample_uids, variables }, options)
    const sizes = bootstrapSizes(responses)
    const firstRows = sizes.map((n) => {
      const drawn = [...bootstrapIndices(responses, n, options)]
      const rows = Array.from({ length: 5 }, (_, i) => drawn.slice(i * n, (i + 1) * n))
      return [String(n), rows] as const
    })
    return {
      ...within(F64, { metrics }),
      ...within('exact', {
        bootstrap_ns: sizes,
        bootstrap_indices_first5_rows_by_subset_size: Object.fromEntries(firstRows),
      }),
    }
  }
  return [{ on: 'driver', run }]
}

/** torch takes means of lengths in float32, whose shares and means then show it. */
const dataTolerance = (path: string): Tolerance =>
  /length|ratio/.test(path) ? ROUNDED : f64Metrics(path)

const data_metrics: Handler = ({ inputs, config, expected }) => {
  const mask = inputs.matrix('response_mask')
  const attention = inputs.matrix('attention_mask')
  const prompt_length = inputs.number('prompt_width')
  if (attention.columns !== prompt_length + mask.columns || attention.rows !== mask.rows)
    throw new CaseError(
      `inputs.attention_mask: expected [${mask.rows}, ${prompt_length + mask.columns}], got [${attention.rows}, ${attention.columns}]`,
    )
  const counted = inputs.has('prompt_length')
    ? {
        prompts: inputs.vector('prompt_length', mask.rows),
        responses: inputs.vector('response_length', mask.rows),
      }
    : undefined
  const lengths = {
    attention_mask: attention.data,
    prompt_length,
    response_length: mask.columns,
    ...(counted && { lengths: counted }),
  }
  const turns = inputs.has('num_turns') ? inputs.vector('num_turns', mask.rows) : []
  const useCritic = config.flag('use_critic')
  const values = inputs.optionalMatrix('values', mask)
  const batch = {
    ...lengths,
    response_mask: mask.data,
    token_level_scores: inputs.matrix('token_level_scores', mask).data,
    token_level_rewards: inputs.matrix('token_level_rewards', mask).data,
    advantages: inputs.matrix('advantages', mask).data,
    returns: inputs.matrix('returns', mask).data,
    ...(useCritic && values ? { values: values.data } : {}),
  }
  const timingRaw = inputs.record('timing_raw')
  const nGpus = inputs.number('n_gpus', 1)
  const run = () =>
    within(dataTolerance, {
      data: asVerl({ ...computeDataMetrics(batch), ...range('num_turns', turns) }, 'data', null),
      timing: asVerl(computeTimingMetrics(lengths, timingRaw), 'timing', 0),
      ...(expected.has('throughput') && {
        throughput: computeThroughputMetrics(lengths, timingRaw, nGpus),
      }),
    })
  /** What cannot be computed is absent in the lab; verl reports NaN (null here), or 0 ms per token.
   * Metrics that verl has not are the lab's own. */
  const asVerl = (metrics: Record<string, number>, name: string, absent: null | 0) => {
    const names = expected.fields(name).names()
    const missing = names.filter((key) => expected.fields(name).raw(key) === (absent ?? undefined))
    const ofVerl = Object.entries(metrics).filter(([key]) => names.includes(key))
    return {
      ...Object.fromEntries(missing.map((key) => [key, absent])),
      ...Object.fromEntries(ofVerl),
    }
  }
  return [{ on: 'driver', run }]
}

const metric_aggregate: Handler = ({ inputs, config }) => {
  const { shape, data } = inputs.tensor('values', [undefined, undefined])
  const ranks = Array.from({ length: shape[0] }, (_, rank) => [
    ...data.subarray(rank * shape[1], (rank + 1) * shape[1]),
  ])
  const aggregation = config.choice('aggregation', ['mean', 'sum', 'max', 'min'])
  const run = () =>
    within(F64, {
      aggregate_first_rank: aggregateRanks(ranks.slice(0, 1), aggregation),
      aggregate_dp: aggregateRanks(ranks, aggregation),
    })
  return [{ on: 'driver', run }]
}

const balance_batch: Handler = ({ inputs, config }) => {
  const seqlens = [...inputs.vector('seqlens')]
  const dpSize = config.number('dp_size', 1)
  const maxTokenLen = config.number('max_token_len')
  const run = () =>
    within('exact', {
      workload: seqlens.map(calculateWorkload),
      balance_batch_order: balanceBatch(seqlens, dpSize).flat(),
      dynamic_micro_batches: dynamicMicroBatches(seqlens, maxTokenLen),
    })
  return [{ on: 'driver', run }]
}

const dapo_overlong_reward: Handler = ({ inputs, config }) => {
  const responseLengths = inputs.vector('response_lengths')
  const baseScores = inputs.vector('base_scores', responseLengths.length)
  const width = inputs.number('response_width')
  const buffer = {
    max_resp_len: config.number('max_resp_len'),
    len: config.number('overlong_buffer_len'),
    penalty_factor: config.number('penalty_factor'),
  }
  const run = () => {
    const penalty = responseLengths.map((length) => overlongReward(length, buffer))
    const scores = baseScores.map((score, b) => score + penalty[b])
    return within(ROUNDED, {
      reward_tensor: tokenLevelScores(scores, responseLengths, width),
      overlong_reward: penalty,
    })
  }
  return [{ on: 'driver', run }]
}

export const DRIVER_CASES: Readonly<Record<string, Handler>> = {
  apply_kl_penalty,
  balance_batch,
  dapo_overlong_reward,
  data_metrics,
  kl_controller,
  metric_aggregate,
  validation_metrics,
}
