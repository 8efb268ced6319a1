// Computes verl's estimators of the KL to a teacher from sampled tokens: as a loss with a gradient
// of its own, or as a reward of PPO.
import type { LossAggMode } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { aggLossRef } from '../../kernels/policy_loss/loss_weights.ref.ts'
import type { Aggregation } from '../../kernels/policy_loss/loss_weights.ts'
import { type PolicyLossConfig, policyLossRef } from '../losses/policy_loss.ref.ts'
import { type Numbers, tokenMean } from './distribution.ref.ts'

/** verl's names; kl = k1, mse = k2, low_var_kl = k3. */
export const SAMPLED_KLS = ['k1', 'kl', 'abs', 'k2', 'mse', 'k3', 'low_var_kl'] as const
export type SampledKl = (typeof SAMPLED_KLS)[number]

export interface Distillation {
  readonly use_policy_gradient: boolean
  readonly use_task_rewards: boolean
  /** Weighs the teacher beside a task, and nothing without one. */
  readonly distillation_loss_coef: number
  readonly loss_max_clamp: number | undefined
}

/** [rows, R] each. */
export interface DistilledBatch {
  readonly response_length: number
  readonly response_mask: Numbers
  readonly log_probs: Numbers
  readonly old_log_probs: Numbers
  readonly advantages: Numbers
}

/** A token's loss and its slope by the student's log-prob. */
interface Token {
  readonly value: number
  readonly slope: number
}

/** k1 d, |d|, k2 d²/2, k3 e^-d + d - 1 with verl's two clamps; d = log S - log T. */
export function sampledKl(name: SampledKl, d: number): Token {
  if (name === 'k1' || name === 'kl') return { value: d, slope: 1 }
  if (name === 'abs') return { value: Math.abs(d), slope: Math.sign(d) }
  if (name === 'k2' || name === 'mse') return { value: (d * d) / 2, slope: d }
  const x = Math.min(Math.max(-d, -20), 20)
  const k3 = Math.exp(x) - x - 1
  const isInside = Math.abs(d) <= 20 && k3 <= 10
  return { value: Math.min(k3, 10), slope: isInside ? 1 - Math.exp(x) : 0 }
}

/** The distillation loss's own clip: its config has no others. */
const CLIP = { clip_ratio_low: 0.2, clip_ratio_high: 0.2, clip_ratio_c: 3 } as const

export interface Distilled {
  readonly loss: number
  readonly d_log_probs: Float64Array
  readonly metrics: Record<string, number>
}

/** What the lab's weights of tokens are multiplied by here: verl's mean of a row divides by n +
 * 1e-8 where masks are float64, and by n where they are narrower, as here. */
const exactMeans = ({ response_mask, response_length: R }: DistilledBatch, mode: LossAggMode) => {
  const counts = new Float64Array(response_mask.length / R)
  for (let i = 0; i < response_mask.length; i++) counts[Math.floor(i / R)] += response_mask[i]
  return Float64Array.from(response_mask, (_, i) => {
    const n = counts[Math.floor(i / R)]
    return mode === 'seq-mean-token-mean' && n > 0 ? (n + 1e-8) / n : 1
  })
}

/** PPO's loss with those means. */
function ppo(config: PolicyLossConfig, batch: DistilledBatch): Distilled {
  const rollout_is_weights = exactMeans(batch, config.loss_agg_mode)
  return policyLossRef('vanilla', config, { ...batch, rollout_is_weights })
}

/** The task's PPO, under actor/. */
export function taskLoss(config: PolicyLossConfig, batch: DistilledBatch): Distilled {
  const found = ppo(config, batch)
  return { ...found, metrics: { ...found.metrics, 'actor/pg_loss': found.loss } }
}

/** `ofTeacher` with the task's loss, as settings join them; gradients by the log-prob of the
 * sampled token. */
export function joinedWithTask(
  ofTeacher: Distilled,
  ofTask: Distilled,
  config: Pick<Distillation, 'use_task_rewards' | 'distillation_loss_coef'>,
): Distilled {
  if (!config.use_task_rewards) return ofTeacher
  const { distillation_loss_coef: coef } = config
  return {
    loss: ofTask.loss + coef * ofTeacher.loss,
    d_log_probs: ofTask.d_log_probs.map((d, i) => d + coef * ofTeacher.d_log_probs[i]),
    metrics: ofTeacher.metrics,
  }
}

/** verl's distillation_ppo_loss over one of its estimators. RangeError for k1 as a loss: its
 * gradient does not see the teacher. */
export function sampledKlLoss(
  lossMode: SampledKl,
  batch: DistilledBatch & { readonly teacher_log_probs: Numbers },
  config: Distillation & { readonly aggregation: Aggregation; readonly task: PolicyLossConfig },
): Distilled {
  const { response_mask, log_probs, teacher_log_probs } = batch
  if (!config.use_policy_gradient && (lossMode === 'k1' || lossMode === 'kl'))
    throw new RangeError(
      `loss_mode: ${lossMode} needs use_policy_gradient, because its gradient does not see the teacher`,
    )
  const most = config.loss_max_clamp ?? Number.POSITIVE_INFINITY
  const raw = Array.from(response_mask, (m, i) =>
    sampledKl(lossMode, m === 0 ? 0 : log_probs[i] - teacher_log_probs[i]),
  )
  const values = raw.map(({ value }) => Math.min(Math.max(value, -most), most))
  const counted = raw.filter((_, i) => response_mask[i] !== 0).map(({ value }) => value)
  const metrics: Record<string, number> = {
    'distillation/abs_loss': tokenMean(
      raw.map(({ value }) => Math.abs(value)),
      response_mask,
    ),
    'distillation/loss_min': Math.min(...counted),
    'distillation/loss_max': Math.max(...counted),
  }
  const ofTask = taskLoss(config.task, batch)
  if (config.use_task_rewards || config.use_policy_gradient) Object.assign(metrics, ofTask.metrics)
  const ofTeacher = config.use_policy_gradient
    ? rewarded(values, batch, config.aggregation)
    : supervised(raw, most, batch, config.aggregation)
  Object.assign(metrics, ofTeacher.metrics, { 'distillation/loss': ofTeacher.loss })
  return joinedWithTask({ ...ofTeacher, metrics }, ofTask, config)
}

/** The estimate itself, with no gradient where it was clamped. */
function supervised(
  tokens: readonly Token[],
  most: number,
  batch: DistilledBatch,
  aggregation: Aggregation,
): Distilled {
  const { response_mask, response_length } = batch
  const exact = exactMeans(batch, aggregation.loss_agg_mode)
  const clamped = tokens.map(({ value }, i) => Math.min(Math.max(value, -most), most) * exact[i])
  const { loss, d_loss_mat } = aggLossRef(clamped, response_mask, response_length, aggregation)
  const d_log_probs = d_loss_mat.map((w, i) =>
    w !== 0 && Math.abs(tokens[i].value) <= most ? w * exact[i] * tokens[i].slope : 0,
  )
  return { loss, d_log_probs, metrics: {} }
}

/** The negative of the estimate as an advantage of vanilla PPO. */
function rewarded(
  values: readonly number[],
  batch: DistilledBatch,
  aggregation: Aggregation,
): Distilled {
  const advantages = values.map((value) => -value)
  const found = ppo({ ...aggregation, ...CLIP }, { ...batch, advantages })
  const metrics = Object.entries(found.metrics).map(([name, value]) => [
    name.replace('actor/', 'distillation/'),
    value,
  ])
  return { ...found, metrics: Object.fromEntries(metrics) }
}
