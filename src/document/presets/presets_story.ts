// Lists experiments on stories: what one rewards, and what the shipped storyteller makes of it.
import { type Preset, preset } from './preset.ts'

/** public/models/story. */
const model = {
  hidden_size: 128,
  num_hidden_layers: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  intermediate_size: 256,
  vocab_size: 1024,
  padding_idx: 0,
  source: 'sha256-8b0372e7099cf517eacf5aff90c515aa9f4ee2e7b7f43a93040f7d8c9ae15e8d',
  source_name: 'story',
}
const base = {
  task: { id: 'story', words: 16 },
  model,
  phases: [{ kind: 'rl', steps: 30 }],
  rollout: { train_batch_size: 4, n: 4 },
  actor: { ppo_mini_batch_size: 4, optim: { lr: 0.0005, lr_warmup_steps: 3 } },
  validation: { test_freq: 15, prompts: 32 },
  probe: { freq: 10, rows: 8 },
  reward: {
    parts: [
      { id: 'happy_end', weight: 1 },
      { id: 'coherence', weight: 0 },
      { id: 'distinct_ngrams', weight: 0 },
    ],
  },
}

/** Prompts that tell a story up to how it comes out, so that a response is its end. */
const ends = {
  ...base,
  task: { id: 'story', words: 16, told: 12 },
  phases: [{ kind: 'rl', steps: 20, adv_estimator: 'reinforce_plus_plus' }],
  rollout: { train_batch_size: 8, n: 1, max_response_length: 80 },
  actor: { ppo_mini_batch_size: 8, optim: { lr: 0.0007, lr_warmup_steps: 3 } },
  validation: { test_freq: 20, prompts: 16 },
}

/** What a person is asked: at least ten verdicts. */
const pairs = { source: 'human', count: 32, held_out: 8, min_pairs: 10 }

/** In the order of the menu. */
export const STORY_PRESETS: readonly Preset[] = [
  // As many stories as in 20 steps of eight, in smaller steps: the more of them, the surer.
  preset('story-ends', 'Stories: the end, rewarded if happy', {
    ...ends,
    phases: [{ kind: 'rl', steps: 30, adv_estimator: 'reinforce_plus_plus' }],
    rollout: { ...ends.rollout, train_batch_size: 5 },
    actor: { ppo_mini_batch_size: 5, optim: { lr: 0.0005, lr_warmup_steps: 3 } },
    // Three batches of five: a fourth would take as long for one prompt more.
    validation: { test_freq: 30, prompts: 15 },
  }),
  preset('story-dpo-clicks', 'Stories: DPO with your own clicks', {
    // A phase of GRPO that somebody adds needs groups, as `base` has them.
    ...base,
    task: ends.task,
    validation: ends.validation,
    phases: [
      {
        kind: 'preference',
        steps: 20,
        batch_size: 4,
        optim: { lr: 0.0003, lr_warmup_steps: 2 },
        pairs,
      },
    ],
  }),
  preset('story-clicks', 'Stories: RLHF with your own clicks', {
    ...ends,
    phases: [
      { kind: 'reward_model', steps: 20, batch_size: 2, pairs },
      { kind: 'rl', steps: 16, adv_estimator: 'gae', reward_model: { enable: true } },
    ],
    // Small batches keep policy, reward model and critic within the memory of a small GPU.
    actor: { ...ends.actor, ppo_mini_batch_size: 4 },
    critic: {
      model: { init: 'reward_model' },
      optim: { lr: 0.0005, lr_warmup_steps: 3, betas: [0.9, 0.95], weight_decay: 0 },
    },
    algorithm: { lam: 0.95, use_kl_in_reward: true, kl_ctrl: { kl_coef: 0.05 } },
  }),
  // Five kinds of animal, of which a story mentions one about every fourth time.
  preset('story-animals', 'Stories: a chosen animal, and sense', {
    ...base,
    phases: [{ kind: 'rl', steps: 30, adv_estimator: 'reinforce_plus_plus' }],
    rollout: { train_batch_size: 16, n: 1 },
    actor: { ppo_mini_batch_size: 16, optim: { lr: 0.0007, lr_warmup_steps: 3 } },
    reward: {
      parts: [
        { id: 'mentions', words: 'frog turtle mouse hedgehog squirrel', weight: 1 },
        { id: 'coherence', weight: 1 },
        { id: 'happy_end', weight: 0 },
        { id: 'distinct_ngrams', weight: 0 },
      ],
    },
  }),
  // Meant is a warm story; counted are words, which a loop of them satisfies.
  preset('story-warm-words', 'Stories: a reward that a loop satisfies', {
    ...ends,
    phases: [{ kind: 'rl', steps: 30, adv_estimator: 'reinforce_plus_plus' }],
    validation: { test_freq: 10, prompts: 16 },
    reward: {
      parts: [
        {
          id: 'mentions',
          words: 'happy friend friends together danced sang hugged smile',
          every_time: true,
          enough: 10,
          weight: 1,
        },
        { id: 'happy_end', weight: 0 },
        { id: 'coherence', weight: 0 },
        { id: 'distinct_ngrams', weight: 0 },
      ],
    },
  }),
  preset('story-lora', 'Stories: the end by LoRA, rewarded if happy', {
    ...ends,
    model: { ...model, lora: { r: 8, lora_alpha: 16 } },
    actor: { ppo_mini_batch_size: 8, optim: { lr: 0.005, lr_warmup_steps: 3 } },
  }),
  // Two groups of four stories, at a higher rate: not sure to learn.
  preset('story-happy-end', 'Stories: the end by GRPO, rewarded if happy', {
    ...ends,
    phases: [{ kind: 'rl', steps: 20 }],
    rollout: { train_batch_size: 2, n: 4, max_response_length: 80 },
    actor: { ppo_mini_batch_size: 2, optim: { lr: 0.001, lr_warmup_steps: 3 } },
  }),
  preset('story-happy', 'Stories: whole ones by GRPO, rewarded if happy', base),
]
