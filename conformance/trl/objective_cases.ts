// Computes TRL's GRPO losses by the objective that the trainer records its updates with, where its
// settings are the lab's.
import type { LossAggMode } from '../../src/kernels/policy_loss/aggregations/aggregations.ts'
import { ACTOR_DEFAULTS } from '../../src/rl/config/actor.ts'
import type { Objective } from '../../src/rl/learners/objective.ts'
import type { LossMode } from '../../src/rl/losses/losses.ts'
import type {
  TrlLossBatch,
  TrlLossConfig,
  TrlLossType,
} from '../../src/rl/losses/trl_objective.ref.ts'
import type { Outputs, Part } from '../base/fixture.ts'
import { withScratch } from '../base/gpu_scratch.ts'
import { liveOfPart, objectiveTensors, runObjective } from '../base/objective_run.ts'
import { GPU_GRADIENT, GPU_VALUE, within } from '../base/tolerances.ts'

/** TRL's loss types as the lab's loss and its mean. */
const LOSS_TYPES: Readonly<Record<TrlLossType, readonly [LossMode, LossAggMode]>> = {
  grpo: ['vanilla', 'seq-mean-token-mean'],
  bnpo: ['vanilla', 'token-mean'],
  dr_grpo: ['vanilla', 'seq-mean-token-sum-norm-0.7.1'],
  dapo: ['vanilla', 'token-mean'],
  luspo: ['vanilla', 'seq-mean-token-sum'],
  cispo: ['cispo', 'token-mean'],
  sapo: ['sapo', 'seq-mean-token-mean'],
  vespo: ['vespo', 'token-mean'],
}

/** A dual clip that no ratio reaches. */
const NO_DUAL_CLIP = 1e6

/** Whether the lab's settings say the same. */
function isOfTheLab(config: TrlLossConfig, batch: TrlLossBatch): boolean {
  const { delta = NO_DUAL_CLIP, loss_type, off_policy_mask_threshold } = config
  const weights = batch.importance_sampling_ratio
  return (
    delta > 1 + config.epsilon_high &&
    off_policy_mask_threshold === undefined &&
    // The lab's entropy bonus has the mean of its loss.
    (config.entropy_coef === 0 || LOSS_TYPES[loss_type][1] === 'token-mean') &&
    !config.use_bias_correction_kl &&
    // The lab's VESPO adds up weights of tokens.
    !(loss_type === 'vespo' && weights?.length === batch.rows)
  )
}

/** The lab's settings. */
function actorOf(config: TrlLossConfig) {
  const [loss_mode, loss_agg_mode] = LOSS_TYPES[config.loss_type]
  // TRL's cispo clamps from above alone, at epsilon_high itself.
  const isCispo = loss_mode === 'cispo'
  return {
    ...ACTOR_DEFAULTS,
    loss_mode,
    loss_agg_mode,
    clip_ratio_low: isCispo ? 1 : config.epsilon_low,
    clip_ratio_high: isCispo ? config.epsilon_high - 1 : config.epsilon_high,
    clip_ratio_c: config.delta ?? NO_DUAL_CLIP,
    tau_pos: config.sapo_temperature_pos,
    tau_neg: config.sapo_temperature_neg,
    loss_scale_factor: config.max_completion_length,
    kl_loss_coef: config.beta,
    entropy_coeff: config.entropy_coef,
    top_entropy_quantile: config.top_entropy_quantile,
    policy_loss: {
      ...ACTOR_DEFAULTS.policy_loss,
      vespo_k_pos: config.vespo_k_pos,
      vespo_k_neg: config.vespo_k_neg,
      vespo_lambda_pos: config.vespo_lambda_pos,
      vespo_lambda_neg: config.vespo_lambda_neg,
    },
  }
}

/** What a mini-batch is divided by: TRL's micro-batches count for 1 / gradient_accumulation_steps
 * each. */
function liveOfTrl(config: TrlLossConfig, batch: TrlLossBatch) {
  const actor = actorOf(config)
  const microTokens = Array.from(batch.mask).reduce((sum, m) => sum + m, 0)
  const items = config.num_items_in_batch
  const { gradient_accumulation_steps: ga, steps_per_generation } = config
  const counts = {
    miniRows: batch.rows,
    miniTokens: microTokens,
    microRows: batch.rows,
    microTokens,
  }
  const aggregation = { loss_agg_mode: actor.loss_agg_mode }
  const live = liveOfPart({ actor, aggregation }, actor.loss_mode, counts)
  const byItems = ['dapo', 'cispo', 'vespo'].includes(config.loss_type) && items !== undefined
  // Here the division by the micro-batches is in the count.
  return byItems
    ? { ...live, token_count: (items * ga) / steps_per_generation }
    : { ...live, scale: 1 / ga }
}

function objectiveOfTrl(config: TrlLossConfig): Objective {
  const [loss_mode, loss_agg_mode] = LOSS_TYPES[config.loss_type]
  const kl_loss_type = config.beta === 0 ? null : 'low_var_kl'
  const hasSequenceRatio = config.importance_sampling_level === 'sequence'
  const keepsHighEntropy = config.top_entropy_quantile < 1
  return {
    loss_mode,
    loss_agg_mode,
    kl_loss_type,
    bypass: null,
    hasSequenceRatio,
    keepsHighEntropy,
  }
}

/** The case on the GPU; nothing where TRL's settings are not the lab's. */
export function trlObjectiveOnGpu(config: TrlLossConfig, batch: TrlLossBatch): Part[] {
  if (!isOfTheLab(config, batch)) return []
  const { rows, columns, importance_sampling_ratio: ratio } = batch
  const tokens = Array.from({ length: rows * columns }, (_, i) => i)
  const ofRow = (values: ArrayLike<number>) => tokens.map((i) => values[Math.floor(i / columns)])
  const given = {
    rows,
    response_length: columns,
    response_mask: batch.mask,
    log_probs: batch.per_token_logps,
    old_log_probs: batch.old_per_token_logps ?? batch.per_token_logps,
    advantages: ofRow(batch.advantages),
    rollout_is_weights: ratio ? (ratio.length === rows ? ofRow(ratio) : ratio) : null,
  }
  const run: (Part & { on: 'gpu' })['run'] = (gpu) =>
    withScratch(gpu, async (scratch): Promise<Outputs> => {
      const shape = [rows, columns]
      const tensors = objectiveTensors(scratch, given, {
        entropy: scratch.f32('entropy', shape, batch.entropies),
        ...(batch.ref_per_token_logps && {
          ref_log_prob: scratch.f32('ref_log_prob', shape, batch.ref_per_token_logps),
        }),
      })
      const live = liveOfTrl(config, batch)
      const found = await runObjective(scratch, objectiveOfTrl(config), live, tensors)
      const { sums } = found
      return {
        ...within(GPU_VALUE, {
          loss:
            sums['actor/pg_loss'] +
            config.beta * sums['actor/kl_loss'] -
            config.entropy_coef * sums['actor/entropy'],
        }),
        ...within(GPU_GRADIENT, {
          grad_per_token_logps: found.d_log_probs,
          ...(config.entropy_coef !== 0 && { grad_entropies: found.d_entropy }),
        }),
      }
    })
  return [{ on: 'gpu', run }]
}
