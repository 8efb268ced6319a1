// The small experiments on the menu: a narrow model of three layers, every phase within a minute or two without a GPU.
import { type Preset, preset } from './preset.ts'

const tiny_model = {
  hidden_size: 32,
  num_hidden_layers: 3,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  intermediate_size: 64,
}

const tiny_warm_start = { kind: 'sft', steps: 66, batch_size: 64, optim: { lr_warmup_steps: 10 } }

/** One-digit sums: the warm start holds adding and forgetting the carry, which a person tells apart at a glance. */
const rlhf_base = {
  task: { id: 'two_skills_addition', digits: 1, correct_share: 0.4 },
  model: tiny_model,
  rollout: { train_batch_size: 32, n: 4 },
  actor: { ppo_mini_batch_size: 16, optim: { lr: 0.0005, lr_warmup_steps: 5 } },
  // There are no more than 20 held-out sums.
  validation: { prompts: 20, n: 4 },
  probe: { rows: 32 },
}
const rlhf_warm_start = {
  kind: 'sft',
  steps: 400,
  batch_size: 64,
  optim: { lr_warmup_steps: 10 },
}
const rewarded = { kind: 'rl', adv_estimator: 'rloo', reward_model: { enable: true } }

/** What the tiny presets share: GRPO with 32 prompts × 4 responses unless they say otherwise. */
const tiny = {
  task: { id: 'sort_digits', length: 3 },
  model: tiny_model,
  rollout: { train_batch_size: 32, n: 4 },
  actor: { ppo_mini_batch_size: 16, optim: { lr: 0.001, lr_warmup_steps: 5 } },
  validation: { prompts: 128, n: 1 },
  probe: { rows: 32 },
}

/** In the order of the menu, behind the large ones. */
export const TINY_PRESETS: readonly Preset[] = [
  preset(
    'tiny',
    {
      name: 'Tiny: sort three digits',
      summary:
        'Three narrow layers and small batches: every phase within a minute, even without a GPU.',
      what_you_should_see:
        'The warm start ends near 78 % greedy accuracy, but only about one sample in six is right. Four steps train layer 2, then fifty the whole model, and the sampled reward climbs to between 37 and 58 % (three seeds) while greedy accuracy stays near 80 %: the model grows sure of what it knew, and the entropy of the final policy falls.',
    },
    {
      task: { id: 'sort_digits', length: 3 },
      model: tiny_model,
      phases: [
        tiny_warm_start,
        { kind: 'rl', steps: 4, target_layer: 2 },
        { kind: 'rl', steps: 50 },
      ],
      rollout: { train_batch_size: 32, n: 4 },
      actor: { ppo_mini_batch_size: 16, optim: { lr: 0.001, lr_warmup_steps: 5 } },
      validation: { prompts: 128, n: 1 },
      probe: { rows: 32 },
    },
  ),
  preset(
    'tiny-ppo',
    {
      name: 'Tiny: PPO with a critic',
      summary:
        'The tiny task with one response to each of 128 prompts; a critic of its own says what to expect of each token (GAE).',
      what_you_should_see:
        'The warm start ends with 13 to 19 % of the samples right and greedy accuracy near 78 %. In 100 steps the sampled reward climbs to between 75 and 84 % and greedy accuracy to about 89 % (three seeds). The critic learns slowly: the share of the returns’ variance that it explains begins at 0 and ends between 0.15 and 0.3. Do not read the reward as a victory over GRPO: 128 different problems per step teach more than 32, and on two-digit addition that alone explained PPO’s lead.',
    },
    {
      task: { id: 'sort_digits', length: 3 },
      model: tiny_model,
      phases: [tiny_warm_start, { kind: 'rl', steps: 100, adv_estimator: 'gae' }],
      rollout: { train_batch_size: 128, n: 1 },
      actor: { ppo_mini_batch_size: 64, optim: { lr: 0.001, lr_warmup_steps: 5 } },
      critic: { optim: { lr: 0.001, lr_warmup_steps: 5, betas: [0.9, 0.95], weight_decay: 0 } },
      algorithm: { lam: 0.95 },
      validation: { prompts: 128, n: 1 },
      probe: { rows: 32 },
    },
  ),
  preset(
    'rlhf-tiny',
    {
      name: 'Tiny: RLHF with the task as judge',
      summary:
        'The task prefers one of two responses, a reward model learns to, and reinforcement sees the reward model alone, held back by the KL to where it began.',
      what_you_should_see:
        'After the warm start between 58 and 75 % of the samples are right; the others mostly forget the carry. The reward model, a copy of the policy that never sees the task’s score, ends with between 89 and 98 % of held-out pairs in the right order: 64 pairs on ten or so sums that no training pair has. In 40 steps of reinforcement against it the task’s score climbs to between 83 and 98 % (three seeds), at 0.2 to 0.3 nats per token from where it began. With so few sums the 20 held-out ones hardly gain: what is learned is which skill to use. With a KL weight of 0.05 the same run is a lesson: the task’s score rises to 83 % and falls to about 45 %, while the reward model’s stays high (one seed).',
    },
    {
      ...rlhf_base,
      phases: [
        rlhf_warm_start,
        {
          kind: 'reward_model',
          steps: 60,
          batch_size: 32,
          pairs: { count: 256, held_out: 64 },
        },
        { ...rewarded, steps: 40 },
      ],
      algorithm: { use_kl_in_reward: true, kl_ctrl: { kl_coef: 0.5 } },
    },
  ),
  preset(
    'rlhf-clicks',
    {
      name: 'Tiny: RLHF with your own clicks',
      summary:
        'You say which of two sums is better, sixteen times or more; a reward model learns it from you, and the policy follows the reward model.',
      what_you_should_see:
        'After the warm start training waits for you: two answers to one sum, click the better. Sixteen verdicts, of which those on every fourth sum are held out, teach the reward model; with so few, its accuracy is a rough number. With 16 pairs judged by the task in a person’s stead, the share of right samples went from 66 to 86 % and from 59 to 76 % in 30 steps (two seeds). Prefer the sums that forget the carry, and the policy follows you there. More verdicts while it trains are used as they come; a copied link holds them.',
    },
    {
      ...rlhf_base,
      phases: [
        rlhf_warm_start,
        {
          kind: 'reward_model',
          steps: 30,
          batch_size: 8,
          pairs: { source: 'human', count: 48, held_out: 16, min_pairs: 16 },
        },
        { ...rewarded, steps: 30 },
      ],
      algorithm: { use_kl_in_reward: true, kl_ctrl: { kl_coef: 1 } },
    },
  ),
  preset(
    'tiny-grpo',
    {
      name: 'Tiny: GRPO, as many rollouts',
      summary:
        'The counterpart of PPO with a critic: 128 responses per step as well, four each to 32 prompts, and no inner phase.',
      what_you_should_see:
        'In 100 steps the sampled reward climbs from between 11 and 23 % to about 70 %, greedy accuracy from about 78 % to between 80 and 87 % (three seeds). At as many rollouts PPO ends at 77 to 85 %, and REINFORCE++, with as many different prompts as PPO but without a critic, at 74 to 78 %: most of the difference lies in the prompts.',
    },
    {
      ...tiny,
      phases: [tiny_warm_start, { kind: 'rl', steps: 100 }],
    },
  ),
  preset(
    'tiny-reinforce',
    {
      name: 'Tiny: REINFORCE++, no groups',
      summary:
        'One response to each of 128 prompts, compared with the mean of the whole batch: no critic and no groups.',
      what_you_should_see:
        'In 100 steps the sampled reward climbs from between 15 and 21 % to between 74 and 78 %, greedy accuracy from about 78 % to between 85 and 89 % (three seeds): ahead of GRPO with 32 prompts × 4 responses, though nothing is known of a prompt but one response. 128 different problems per step teach more than 32.',
    },
    {
      ...tiny,
      phases: [tiny_warm_start, { kind: 'rl', steps: 100, adv_estimator: 'reinforce_plus_plus' }],
      rollout: { train_batch_size: 128, n: 1 },
      actor: { ppo_mini_batch_size: 64, optim: { lr: 0.001, lr_warmup_steps: 5 } },
    },
  ),
  preset(
    'tiny-dr-grpo',
    {
      name: 'Tiny: Dr. GRPO',
      summary:
        'GRPO without its two divisions: by the spread of a group’s rewards, and by the number of tokens.',
      what_you_should_see:
        'In 100 steps the sampled reward climbs from between 16 and 23 % to between 72 and 76 %, greedy accuracy from about 77 % to between 81 and 89 % (two seeds); plain GRPO of the same seeds ends at 71 %, with greedy accuracy of 80 and 87 %. With answers of four tokens there is little length to be biased about: do not expect a difference that is larger than that between seeds.',
    },
    {
      ...tiny,
      phases: [tiny_warm_start, { kind: 'rl', steps: 100 }],
      actor: {
        ppo_mini_batch_size: 16,
        loss_agg_mode: 'seq-mean-token-sum-norm',
        optim: { lr: 0.001, lr_warmup_steps: 5 },
      },
      algorithm: { norm_adv_by_std_in_grpo: false },
    },
  ),
  preset(
    'tiny-dapo',
    {
      name: 'Tiny: DAPO',
      summary:
        'GRPO that draws other prompts in place of those whose four responses score the same, and clips higher upwards.',
      what_you_should_see:
        'Every step trains on 32 groups that differ in score; most steps draw two batches for that, towards the end often three (2.2 on average, four at most). So the sampled reward is that of the kept groups and cannot pass 75 %: at least one response in four is wrong. In 100 steps it climbs from between 31 and 36 % to between 66 and 69 %. Read the held-out samples instead: from between 13 and 19 % right to between 69 and 84 %, greedy accuracy from 77 % to between 84 and 95 % (two seeds). Plain GRPO of the same seeds ends at 60 and 73 %, 80 and 87 % greedy, having sampled less than half as much. The penalty for overlong answers is off, because an answer has three digits and an end token.',
    },
    {
      ...tiny,
      phases: [tiny_warm_start, { kind: 'rl', steps: 100 }],
      actor: {
        ppo_mini_batch_size: 16,
        clip_ratio_high: 0.28,
        optim: { lr: 0.001, lr_warmup_steps: 5 },
      },
      algorithm: { filter_groups: { enable: true, metric: 'acc', max_num_gen_batches: 8 } },
    },
  ),
  preset(
    'tiny-collapse',
    {
      name: 'Tiny: a collapse, on purpose',
      summary: 'GRPO at ten times the learning rate of the tiny presets: see how a run is lost.',
      what_you_should_see:
        'The sampled reward is 13 to 24 % in the first steps, falls below 3 % by the sixth and stays near 0 (two seeds); greedy accuracy falls from 77 % to 2 % or less. Soon no group of responses differs in score, so nothing pulls the policy back. The clip hardly notices: it never holds more than 4 % of the tokens. The findings above the charts say so while it happens.',
    },
    {
      ...tiny,
      phases: [tiny_warm_start, { kind: 'rl', steps: 40 }],
      actor: { ppo_mini_batch_size: 16, optim: { lr: 0.01, lr_warmup_steps: 5 } },
    },
  ),
]
