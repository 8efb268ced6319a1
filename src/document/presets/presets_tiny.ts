// Lists the small experiments on the menu: a narrow model of three layers, every phase within a
// minute or two on a software adapter.
import { type Preset, preset } from './preset.ts'

export const tinyModel = {
  hidden_size: 32,
  num_hidden_layers: 3,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  intermediate_size: 64,
}

export const tinyWarmStart = {
  kind: 'sft',
  steps: 66,
  batch_size: 64,
  optim: { lr_warmup_steps: 10 },
}

/** One-digit sums: the warm start holds adding and forgetting the carry, which a person tells apart
 * at a glance. */
const rlhfBase = {
  task: { id: 'two_skills_addition', digits: 1, correct_share: 0.4 },
  model: tinyModel,
  rollout: { train_batch_size: 32, n: 4 },
  actor: { ppo_mini_batch_size: 16, optim: { lr: 0.0005, lr_warmup_steps: 5 } },
  // There are no more than 20 held-out sums.
  validation: { prompts: 20, n: 4 },
  probe: { rows: 32 },
}
const rlhfWarmStart = {
  kind: 'sft',
  steps: 400,
  batch_size: 64,
  optim: { lr_warmup_steps: 10 },
}
const rewarded = { kind: 'rl', adv_estimator: 'rloo', reward_model: { enable: true } }

const actor = { ppo_mini_batch_size: 16, optim: { lr: 0.001, lr_warmup_steps: 5 } }

/** What the tiny presets share: GRPO with 32 prompts × 4 responses unless they say otherwise. */
export const tiny = {
  task: { id: 'sort_digits', length: 3 },
  model: tinyModel,
  rollout: { train_batch_size: 32, n: 4 },
  actor,
  validation: { prompts: 128, n: 1 },
  probe: { rows: 32 },
}

/** public/models/sorter: the warm start of `tiny`, made before. */
export const warmModel = {
  ...tinyModel,
  vocab_size: 26,
  padding_idx: 0,
  source: 'sha256-c0568ce6a7a3657a113e5557adba417f4cd6b8534e2221293e0996a24b96864c',
  source_name: 'sorter',
}

/** Advantages of the whole batch, of many problems with two answers each, and a rate that falls:
 * what learns most in so few steps. */
const firstSteps = (prompts: number, innerSteps: number, steps: number) => ({
  ...tiny,
  model: warmModel,
  phases: [
    { kind: 'rl', steps: innerSteps, target_layer: 2, adv_estimator: 'reinforce_plus_plus' },
    { kind: 'rl', steps, adv_estimator: 'reinforce_plus_plus' },
  ],
  rollout: { train_batch_size: prompts, n: 2 },
  actor: {
    ppo_mini_batch_size: prompts / 4,
    optim: { lr: 0.0015, lr_warmup_steps: 5, lr_scheduler_type: 'cosine', min_lr_ratio: 0.1 },
  },
})

/** In the order of the menu, behind the large ones. */
export const TINY_PRESETS: readonly Preset[] = [
  preset('first-steps', 'First run: an inner layer, then all', firstSteps(128, 4, 41)),
  preset('first-steps-gpu', 'First run on a GPU', firstSteps(256, 8, 112)),
  preset('first-run', 'First run with GRPO', {
    ...tiny,
    model: warmModel,
    phases: [
      { kind: 'rl', steps: 4, target_layer: 2 },
      { kind: 'rl', steps: 41 },
    ],
    rollout: { train_batch_size: 32, n: 8 },
    actor: { ...actor, ppo_mini_batch_size: 8 },
  }),
  preset('first-run-gpu', 'First run with GRPO, on a GPU', {
    ...tiny,
    model: warmModel,
    phases: [
      { kind: 'rl', steps: 8, target_layer: 2 },
      { kind: 'rl', steps: 112 },
    ],
    rollout: { train_batch_size: 64, n: 8 },
  }),
  preset('tiny', 'Tiny: sort three digits', {
    ...tiny,
    phases: [tinyWarmStart, { kind: 'rl', steps: 4, target_layer: 2 }, { kind: 'rl', steps: 50 }],
  }),
  preset('tiny-ppo', 'Tiny: PPO with a critic', {
    ...tiny,
    phases: [tinyWarmStart, { kind: 'rl', steps: 100, adv_estimator: 'gae' }],
    rollout: { train_batch_size: 128, n: 1 },
    actor: { ...actor, ppo_mini_batch_size: 64 },
    critic: { optim: { ...actor.optim, betas: [0.9, 0.95], weight_decay: 0 } },
    algorithm: { lam: 0.95 },
  }),
  preset('rlhf-tiny', 'Tiny: RLHF with the task as judge', {
    ...rlhfBase,
    phases: [
      rlhfWarmStart,
      {
        kind: 'reward_model',
        steps: 60,
        batch_size: 32,
        pairs: { count: 256, held_out: 64 },
      },
      { ...rewarded, steps: 40 },
    ],
    algorithm: { use_kl_in_reward: true, kl_ctrl: { kl_coef: 0.5 } },
  }),
  preset('rlhf-clicks', 'Tiny: RLHF with your own clicks', {
    ...rlhfBase,
    phases: [
      rlhfWarmStart,
      {
        kind: 'reward_model',
        steps: 30,
        batch_size: 8,
        pairs: { source: 'human', count: 48, held_out: 16, min_pairs: 16 },
      },
      { ...rewarded, steps: 30 },
    ],
    algorithm: { use_kl_in_reward: true, kl_ctrl: { kl_coef: 1 } },
  }),
  preset('dpo-tiny', 'Tiny: DPO on fresh pairs', {
    ...tiny,
    phases: [
      tinyWarmStart,
      { kind: 'preference', steps: 80, refresh_steps: 5, pairs: { count: 160, held_out: 64 } },
    ],
  }),
  preset('dpo-clicks', 'Tiny: DPO with your own clicks', {
    ...rlhfBase,
    phases: [
      rlhfWarmStart,
      {
        kind: 'preference',
        steps: 20,
        batch_size: 8,
        optim: { lr: 0.0002, lr_warmup_steps: 5 },
        pairs: { source: 'human', count: 48, held_out: 16, min_pairs: 16 },
      },
    ],
  }),
  preset('tiny-grpo', 'Tiny: GRPO, as many rollouts', {
    ...tiny,
    phases: [tinyWarmStart, { kind: 'rl', steps: 100 }],
  }),
  preset('tiny-own-best', 'Tiny: from one’s own best', {
    ...tiny,
    model: warmModel,
    phases: [{ kind: 'rl', steps: 60, adv_estimator: 'rejection_sampling' }],
    actor: { ...actor, loss_mode: 'gpg' },
  }),
  preset('tiny-reinforce', 'Tiny: REINFORCE++, no groups', {
    ...tiny,
    phases: [tinyWarmStart, { kind: 'rl', steps: 100, adv_estimator: 'reinforce_plus_plus' }],
    rollout: { train_batch_size: 128, n: 1 },
    actor: { ...actor, ppo_mini_batch_size: 64 },
  }),
  preset('tiny-dr-grpo', 'Tiny: Dr. GRPO', {
    ...tiny,
    phases: [tinyWarmStart, { kind: 'rl', steps: 100 }],
    actor: { ...actor, loss_agg_mode: 'seq-mean-token-sum-norm' },
    algorithm: { norm_adv_by_std_in_grpo: false },
  }),
  preset('tiny-dapo', 'Tiny: DAPO', {
    ...tiny,
    phases: [tinyWarmStart, { kind: 'rl', steps: 100 }],
    actor: { ...actor, clip_ratio_high: 0.28 },
    algorithm: { filter_groups: { enable: true, metric: 'acc', max_num_gen_batches: 8 } },
  }),
  preset('tiny-collapse', 'Tiny: a collapse, on purpose', {
    ...tiny,
    phases: [tinyWarmStart, { kind: 'rl', steps: 40 }],
    actor: { ...actor, optim: { ...actor.optim, lr: 0.01 } },
  }),
]
