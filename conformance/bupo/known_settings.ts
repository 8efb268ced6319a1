// Lists the settings of BuPO's fork: those that a replay follows, those that change none of its
// numbers, and those that have to be off.
import { CaseError } from '../base/fields.ts'
import type { TraceSettings } from './trace_settings.ts'

/** Read by bupo_settings.ts and bupo_trace.ts. */
const FOLLOWED = [
  'strategy',
  'clip_ratio',
  'clip_ratio_low',
  'clip_ratio_high',
  'clip_ratio_c',
  'policy_loss.loss_mode',
  'policy_loss.kl_cov_ratio',
  'policy_loss.ppo_kl_coef',
  'loss_agg_mode',
  'entropy_coeff',
  'use_kl_loss',
  'kl_loss_coef',
  'kl_loss_type',
  'grad_clip',
  'optim.lr',
  'optim.betas',
  'optim.weight_decay',
  'ppo_micro_batch_size_per_gpu',
  'internal_policy_interative',
  'internal_layer',
  'iterative_steps',
].map((name) => `actor_rollout_ref.actor.${name}`)

/** An update has its rows, its learning rate and the advantages; how these came about is not
 * replayed. */
const WITHOUT_EFFECT = [
  /^actor_rollout_ref\.(rollout|hybrid_engine)\b/,
  /^actor_rollout_ref\.ref\.(strategy|fsdp_config|log_prob_\w+|profiler|use_\w+|entropy_\w+|ulysses_\w+|internal_\w+|iterative_steps)\b/,
  /^actor_rollout_ref\.actor\.(ppo_mini_batch_size|ppo_epochs|shuffle|ppo_max_token_len_per_gpu)$/,
  /^actor_rollout_ref\.actor\.(checkpoint|profiler|fsdp_config)\b/,
  /^actor_rollout_ref\.actor\.(use_torch_compile|use_fused_kernels|use_remove_padding|ulysses_sequence_parallel_size)$/,
  /^actor_rollout_ref\.actor\.(entropy_from_logits_with_chunking|entropy_checkpointing)$/,
  /^actor_rollout_ref\.actor\.optim\.(lr_warmup_steps(_ratio)?|warmup_style|min_lr_ratio|num_cycles|total_training_steps)$/,
  /^actor_rollout_ref\.actor\.policy_loss\.clip_cov_(ratio|lb|ub)$/,
  /^actor_rollout_ref\.model\.(path|custom_chat_template|use_\w+|external_lib|override_config|enable_\w+|trust_remote_code|fused_kernel_options|lora_alpha|target_modules|exclude_modules)\b/,
  /^algorithm\.(adv_estimator|gamma|lam|norm_adv_by_std_in_grpo|kl_penalty|kl_ctrl|pf_ppo)\b/,
  /\._target_$/,
]

/** What the replay cannot follow where it is on, and the values that are off. */
const OFF: Readonly<Record<string, readonly unknown[]>> = {
  'actor.tis_imp_ratio_cap': [-1],
  'actor.use_dynamic_bsz': [false],
  'actor.ppo_micro_batch_size': [null],
  'model.lora_rank': [0],
  'algorithm.use_kl_in_reward': [false],
  'algorithm.use_pf_ppo': [false],
}
const KNOWN = [
  ...FOLLOWED,
  ...Object.keys(OFF).map((name) => name.replace(/^(actor|model)/, 'actor_rollout_ref.$1')),
]

/** The part of a path that the fork's own configuration has. */
const OF_THE_FORK = /(?:^|\.)(actor_rollout_ref\.(?:actor|ref|model)\..+|algorithm\..+)$/
/** Other parts of that configuration, which do not touch an update. */
const ELSEWHERE =
  /(?:^|\.)(?:actor_rollout_ref|data|trainer|critic|reward_model|custom_reward_function|ray_kwargs|ray_init|global_profiler)\./
/** A bare name that reads like a setting of a loss or an optimizer. */
const LIKE_A_SETTING = /(^use_|_coeff?$|_ratio$|_mode$|_type$|_cap$|^clip|_clip$|_bonus$|_decay$)/

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

/** Throws CaseError for a setting that is not known, that is on and cannot be followed, or that
 * contradicts another. */
export function requireKnown(settings: TraceSettings): void {
  for (const [name, off] of Object.entries(OFF)) {
    const value = settings.find(name)
    if (value !== undefined && !off.includes(value))
      throw new CaseError(`${name}: expected ${off.join(' or ')}, which is off, got ${value}`)
  }
  const names = settings.names()
  for (const path of names) {
    const own = OF_THE_FORK.exec(path)?.[1]
    const isKnown = own
      ? KNOWN.includes(own) || WITHOUT_EFFECT.some((pattern) => pattern.test(own))
      : ELSEWHERE.test(path) || !LIKE_A_SETTING.test(lastOf(path)) || isNameOfFork(lastOf(path))
    if (!isKnown)
      throw new CaseError(
        `${path}: no setting of BuPO's fork that the replay knows; what does it do?`,
      )
  }
  const layers = names
    .filter((path) => /(^|\.)internal_layer$/.test(path))
    .map((path) => settings.find(path))
  if (new Set(layers).size > 1)
    throw new CaseError(`internal_layer: expected one value everywhere, got ${layers.join(', ')}`)
}

/** A bare name of a trace's own record. */
const isNameOfFork = (name: string): boolean =>
  [...KNOWN, ...NAMES].some((known) => lastOf(known) === name)

/** Names of WITHOUT_EFFECT that read like a setting of a loss. */
const NAMES = [
  'lr_warmup_steps_ratio',
  'min_lr_ratio',
  'clip_cov_ratio',
  'clip_cov_lb',
  'clip_cov_ub',
  'use_torch_compile',
  'use_fused_kernels',
  'use_remove_padding',
  'use_shm',
  'use_liger',
  'kl_coef',
]
