// Reads the settings that an update of BuPO's fork depends on from a trace. A setting that the
// replay does not follow is refused by name.
import { ACTOR_DEFAULTS } from '../../src/rl/config/actor.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import { CaseError } from '../base/fields.ts'
import { goldenPhase } from '../hf/golden_actor.ts'
import { requireKnown } from './known_settings.ts'
import type { TraceSettings } from './trace_settings.ts'

/** How the fork aggregates, but for its learning rates, which a trace holds for each update. */
export interface TracePlan {
  /** Blocks that the inner phase reads through, and its steps. */
  readonly inner: { readonly layer: number; readonly steps: number }
  readonly ranks: number
  readonly strategy: 'fsdp' | 'fsdp2'
  /** Rows of one backward pass on each rank; undefined = all of a mini-batch. */
  readonly microRows: number | undefined
  readonly temperature: number
  readonly actor: Partial<RlPhase['actor']>
}

/** Losses that the fork has and that choose no tokens by chance. */
const LOSS_MODES = ['vanilla', 'gspo', 'gpg', 'kl_cov', 'geo_mean'] as const
/** Means that the fork has. */
const LOSS_AGG_MODES = [
  'token-mean',
  'seq-mean-token-sum',
  'seq-mean-token-mean',
  'seq-mean-token-sum-norm',
] as const
const KL_LOSS_TYPES = ['k1', 'kl', 'abs', 'mse', 'k2', 'low_var_kl', 'k3'] as const

/** Throws CaseError for what the replay does not follow. */
export function readPlan(settings: TraceSettings): TracePlan {
  requireKnown(settings)
  const microRows = settings.find('actor.ppo_micro_batch_size_per_gpu')
  return {
    inner: settings.inner(),
    ranks: settings.number('ranks', 1),
    strategy: settings.choice('actor.strategy', ['fsdp', 'fsdp2'], 'fsdp2'),
    microRows: typeof microRows === 'number' ? microRows : undefined,
    temperature: settings.number('rollout.temperature', 1),
    actor: { ...lossOf(settings), ...optimOf(settings) },
  }
}

function lossOf(settings: TraceSettings): Partial<RlPhase['actor']> {
  const clip = settings.number('actor.clip_ratio', 0.2)
  const { kl_loss_coef } = ACTOR_DEFAULTS
  const { kl_cov_ratio, ppo_kl_coef } = ACTOR_DEFAULTS.policy_loss
  return {
    use_legacy_worker_impl: 'enable',
    loss_mode: settings.choice('actor.policy_loss.loss_mode', LOSS_MODES, 'vanilla'),
    policy_loss: {
      ...ACTOR_DEFAULTS.policy_loss,
      kl_cov_ratio: settings.number('actor.policy_loss.kl_cov_ratio', kl_cov_ratio),
      ppo_kl_coef: settings.number('actor.policy_loss.ppo_kl_coef', ppo_kl_coef),
    },
    clip_ratio_low: settings.number('actor.clip_ratio_low', clip),
    clip_ratio_high: settings.number('actor.clip_ratio_high', clip),
    clip_ratio_c: settings.number('actor.clip_ratio_c', 3),
    loss_agg_mode: settings.choice('actor.loss_agg_mode', LOSS_AGG_MODES, 'token-mean'),
    entropy_coeff: settings.number('actor.entropy_coeff', 0),
    entropy_of: 'final',
    use_kl_loss: settings.flag('actor.use_kl_loss', false),
    kl_loss_coef: settings.number('actor.kl_loss_coef', kl_loss_coef),
    kl_loss_type: settings.choice('actor.kl_loss_type', KL_LOSS_TYPES, 'low_var_kl'),
  }
}

function optimOf(settings: TraceSettings): Pick<RlPhase['actor'], 'grad_clip' | 'optim'> {
  const [beta1, beta2] = [settings.find('actor.optim.betas') ?? [0.9, 0.999]].flat() as number[]
  return {
    grad_clip: settings.number('actor.grad_clip', 1),
    optim: {
      lr: settings.number('actor.optim.lr', 1e-6),
      lr_warmup_steps: 0,
      lr_scheduler_type: 'constant',
      min_lr_ratio: 0,
      betas: [beta1, beta2],
      weight_decay: settings.number('actor.optim.weight_decay', 0.01),
    },
  }
}

/** Rows of a mini-batch that each rank has. */
export const rankRows = ({ ranks }: TracePlan, mini: number): number => {
  if (mini % ranks !== 0)
    throw new CaseError(`ranks: expected a divisor of ${mini}, the rows of an update, got ${ranks}`)
  return mini / ranks
}

/** The last layer keeps its weights from the first inner update on, in the whole model's phase too:
 * FSDP 1 on one rank. */
export const losesLastLayer = ({ strategy, ranks }: TracePlan): boolean =>
  strategy === 'fsdp' && ranks === 1

/** The phase of a step, whose mini-batches are of so many rows of `columns` response tokens;
 * `blocks` = L. */
export function phaseOfStep(
  plan: TracePlan,
  step: number,
  rows: { readonly batch: number; readonly mini: number; readonly columns: number },
  blocks: number,
): RlPhase {
  const isInner = step <= plan.inner.steps
  const phase = goldenPhase(isInner ? plan.inner.layer : blocks, rows, plan.actor)
  const each = rankRows(plan, rows.mini)
  const micro = Math.min(plan.microRows ?? each, each)
  if (each % micro !== 0)
    throw new CaseError(
      `actor.ppo_micro_batch_size_per_gpu: expected a divisor of ${each}, the rows of an update on each rank, got ${micro}`,
    )
  const keepsLast = !isInner && plan.inner.steps > 0 && losesLastLayer(plan)
  return {
    ...phase,
    // FSDP 1 on several ranks gives the final norm a gradient of 0.
    decay_final_norm: isInner && plan.strategy === 'fsdp' && plan.ranks > 1,
    ...(keepsLast && { freeze: { embed_tokens: false, layers: [blocks] } }),
    rollout: {
      ...phase.rollout,
      temperature: plan.temperature,
      max_response_length: rows.columns,
    },
    actor: { ...phase.actor, ppo_micro_batch_size_per_gpu: micro },
  }
}
