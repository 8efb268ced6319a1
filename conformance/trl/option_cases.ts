// Runs golden cases of TRL's GRPO options: its losses, advantages and adaptive entropy coefficient.
import {
  TRL_CORRECTIONS,
  trlAdvantagesRef,
  trlCompletionMask,
  trlSamplingCorrection,
} from '../../src/rl/estimators/trl_advantages.ref.ts'
import {
  adaptedEntropy,
  appliedCoefficient,
  firstEntropy,
} from '../../src/rl/experience/adaptive_entropy.ts'
import {
  TRL_LOSS_TYPES,
  type TrlLossBatch,
  type TrlLossConfig,
  trlLossRef,
} from '../../src/rl/losses/trl_objective.ref.ts'
import { CaseError, type Fields } from '../base/fields.ts'
import type { Handler } from '../base/fixture.ts'
import { within } from '../base/tolerances.ts'
import { trlObjectiveOnGpu } from './objective_cases.ts'

const F64 = { rtol: 1e-9, atol: 1e-11 } as const
/** sapo's temperatures are float32. */
const SAPO = { rtol: 1e-6, atol: 1e-9 } as const
/** Weights, tests for 0 and metrics are float32. */
const F32 = { rtol: 2e-6, atol: 2e-6 } as const

/** GRPOConfig of TRL 1.13.0. */
const DEFAULTS: TrlLossConfig = {
  loss_type: 'dapo',
  importance_sampling_level: 'token',
  epsilon_low: 0.2,
  epsilon_high: 0.2,
  delta: undefined,
  beta: 0,
  use_bias_correction_kl: false,
  top_entropy_quantile: 1,
  off_policy_mask_threshold: undefined,
  entropy_coef: 0,
  gradient_accumulation_steps: 1,
  steps_per_generation: 1,
  max_completion_length: 16,
  num_items_in_batch: undefined,
  vespo_k_pos: 2,
  vespo_lambda_pos: 3,
  vespo_k_neg: 3,
  vespo_lambda_neg: 2,
  sapo_temperature_neg: 1.05,
  sapo_temperature_pos: 1,
}
const LEVELS = ['token', 'sequence'] as const
const AGGREGATIONS = ['sum_then_normalize', 'normalize_then_sum'] as const

/** What the config says over the defaults. */
function lossConfig(config: Fields): TrlLossConfig {
  const numbers = Object.fromEntries(
    Object.entries(DEFAULTS)
      .filter(([, value]) => typeof value === 'number' || value === undefined)
      .map(([name, value]) => [name, config.optionalNumber(name) ?? value]),
  )
  return {
    ...DEFAULTS,
    ...numbers,
    loss_type: config.choice('loss_type', TRL_LOSS_TYPES, DEFAULTS.loss_type),
    importance_sampling_level: config.choice(
      'importance_sampling_level',
      LEVELS,
      DEFAULTS.importance_sampling_level,
    ),
    use_bias_correction_kl: config.flag('use_bias_correction_kl', false),
  }
}

function lossBatch(inputs: Fields): TrlLossBatch {
  const logps = inputs.matrix('per_token_logps')
  const { rows, columns } = logps
  const optional = (name: string) => inputs.optionalMatrix(name, logps)?.data
  const toolMask = optional('tool_mask')
  const completionMask = inputs.matrix('completion_mask', logps).data
  return {
    rows,
    columns,
    per_token_logps: logps.data,
    old_per_token_logps: optional('old_per_token_logps'),
    sampling_per_token_logps: optional('sampling_per_token_logps'),
    ref_per_token_logps: optional('ref_per_token_logps'),
    advantages: inputs.vector('advantages', rows),
    mask: toolMask ? completionMask.map((m, i) => m * toolMask[i]) : completionMask,
    entropies: inputs.matrix('entropies', logps).data,
    importance_sampling_ratio: ratioOf(inputs, rows, columns),
  }
}

/** [B, T], or [B, 1] for one per row. */
function ratioOf(inputs: Fields, rows: number, columns: number): Float64Array | undefined {
  const name = 'importance_sampling_ratio'
  if (!inputs.has(name)) return void inputs.raw(name)
  const { rows: found, columns: wide, data } = inputs.matrix(name)
  if (found !== rows || (wide !== 1 && wide !== columns))
    throw new CaseError(`inputs.${name}: expected [${rows}, ${columns}] or [${rows}, 1]`)
  return data
}

const trl_grpo_loss: Handler = ({ inputs, config, expected }) => {
  const batch = lossBatch(inputs)
  const settings = lossConfig(config)
  const run = () => {
    const { loss, d_logps, d_entropies, metrics } = trlLossRef(settings, batch)
    return {
      ...within(settings.loss_type === 'sapo' ? SAPO : F64, {
        loss,
        grad_per_token_logps: d_logps,
        // TRL has such a gradient only beside a bonus.
        ...(expected.has('grad_entropies') ? { grad_entropies: d_entropies } : {}),
      }),
      ...within(F32, { metrics }),
    }
  }
  return [{ on: 'reference', run }, ...trlObjectiveOnGpu(settings, batch)]
}

const trl_adaptive_entropy: Handler = ({ inputs, config }) => {
  const updates = inputs
    .list('updates')
    .map((update) => update.list('micro_batches').map(lossBatch))
  const settings = lossConfig(config)
  const controller = {
    entropy_target: config.number('entropy_target', 0.2),
    entropy_coef_delta: config.number('entropy_coef_delta', 0.005),
    entropy_coef_min: config.number('entropy_coef_min', 0),
    entropy_coef_max: config.number('entropy_coef_max', 1),
  }
  const run = () => {
    let state = firstEntropy(settings.entropy_coef)
    const found = updates.map((microBatches) => {
      const entropy_coef = appliedCoefficient(state, controller)
      const parts = microBatches.map((batch) => trlLossRef({ ...settings, entropy_coef }, batch))
      const tokens = parts.reduce((sum, part) => sum + part.entropyTokens, 0)
      const entropy = parts.reduce((sum, part) => sum + part.entropy_sum, 0) / Math.max(tokens, 1)
      state = adaptedEntropy(state, entropy, controller)
      return {
        micro_batches: parts.map(({ loss, d_entropies }) => ({
          loss,
          grad_entropies: d_entropies,
        })),
        entropy_coef_after: state.entropy_coef,
        window_entropy: entropy,
      }
    })
    return within(F64, { updates: found })
  }
  return [{ on: 'driver', run }]
}

/** [N, F], null where a function gave nothing. */
function rewardsOf(inputs: Fields, functions: number): (number | null)[][] {
  const value = inputs.raw('rewards_per_func')
  const isReward = (reward: unknown) => reward === null || Number.isFinite(reward)
  const isRow = (row: unknown) =>
    Array.isArray(row) && row.length === functions && row.every(isReward)
  if (!Array.isArray(value) || !value.every(isRow))
    throw new CaseError(`inputs.rewards_per_func: expected rows of ${functions} numbers or null`)
  return value
}

/** Of the sampler's log-probs, where a case has some. */
function correctionOf(inputs: Fields, config: Fields) {
  if (!inputs.has('sampling_logps')) return undefined
  const bounds = {
    mode: config.choice('vllm_importance_sampling_mode', TRL_CORRECTIONS),
    clip_min: config.optionalNumber('clip_min'),
    clip_max: config.optionalNumber('clip_max'),
  }
  const oldLogps = inputs.ragged('old_logps')
  const samplingLogps = inputs.ragged('sampling_logps')
  return (mask: readonly (readonly number[])[]) =>
    trlSamplingCorrection(oldLogps, samplingLogps, mask, bounds)
}

const trl_advantages: Handler = ({ inputs, config }) => {
  const reward_weights = [...config.vector('reward_weights')]
  const settings = {
    num_generations: config.number('num_generations'),
    scale_rewards: config.choice('scale_rewards', ['group', 'batch', 'none'], 'group'),
    multi_objective_aggregation: config.choice(
      'multi_objective_aggregation',
      AGGREGATIONS,
      'sum_then_normalize',
    ),
    reward_weights,
  }
  const rewards = rewardsOf(inputs, reward_weights.length)
  const mask = trlCompletionMask(inputs.ragged('completion_ids'), {
    mask_truncated_completions: config.flag('mask_truncated_completions', false),
    endTokens: [config.number('eos_token_id'), config.number('pad_token_id')],
  })
  const corrected = correctionOf(inputs, config)
  const run = () => {
    const { advantages, metrics } = trlAdvantagesRef(rewards, settings)
    const correction = corrected?.(mask)
    return {
      ...within(F32, {
        advantages,
        metrics: { ...metrics, ...correction?.metrics },
        ...(correction ? { importance_sampling_ratio: correction.ratio } : {}),
      }),
      ...within('exact', {
        completion_mask: mask,
        num_items_in_batch: mask.flat().reduce((sum, m) => sum + m, 0),
      }),
    }
  }
  return [{ on: 'driver', run }]
}

export const TRL_OPTION_CASES: Readonly<Record<string, Handler>> = {
  trl_adaptive_entropy,
  trl_advantages,
  trl_grpo_loss,
}
