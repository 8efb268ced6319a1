// The experiments on the menu. An id never changes its meaning, because links name it: a changed one gets a new id.
import { type Experiment, parseExperiment } from './experiment.ts'

export interface Preset {
  readonly id: string
  readonly name: string
  /** One sentence for the menu. */
  readonly summary: string
  /** What a run of it looks like when all is well, with the numbers that were measured. */
  readonly what_you_should_see: string
  readonly experiment: Experiment
}

/** A preset is written as what differs from the defaults. */
function preset(
  id: string,
  said: Pick<Preset, 'name' | 'summary' | 'what_you_should_see'>,
  document: object,
): Preset {
  const parsed = parseExperiment({ name: said.name, ...document })
  if (!parsed.ok)
    throw new RangeError(
      `preset ${id}: ${parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    )
  return { id, ...said, experiment: parsed.experiment }
}

/** 400 steps at 0.003: enough for both skills, and no more of the right one than its demonstrations. */
const two_skills_warm_start = { kind: 'sft', steps: 400 }

/** A warm start that stops while sampled answers are still mostly wrong. */
const half_trained = (steps: number) => ({ kind: 'sft', steps, optim: { lr: 0.002 } })

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

/** Every preset, in the order of the menu; a new visitor sees the first. */
export const PRESETS: readonly Preset[] = [
  preset(
    'two-skills-bupo',
    {
      name: 'Two-skills addition, BuPO',
      summary:
        'After the warm start, 12 steps train the policy that layer 5 already holds; then the whole model is trained.',
      what_you_should_see:
        'The warm start ends near 25 % greedy accuracy, because most demonstrations forget the carries. The inner phase lowers the entropy of layer 5. Then accuracy climbs: about 64 % after 20 steps of reinforcement, 89 % after 40, above 95 % at the end (one seed). Learning here selects a skill that the model already has; it does not teach addition. At this size an inner phase does not beat plain GRPO: look at the entropies, not at the final score.',
    },
    {
      phases: [
        two_skills_warm_start,
        { kind: 'rl', steps: 12, target_layer: 5 },
        { kind: 'rl', steps: 108 },
      ],
    },
  ),
  preset(
    'two-skills-grpo',
    {
      name: 'Two-skills addition, GRPO',
      summary:
        'The model knows how to add and how to forget carries; reinforcement learning picks the right skill.',
      what_you_should_see:
        'Greedy accuracy goes from about 22 % to 78 % in 20 steps of reinforcement learning and to 96 % in 120 (three seeds). The entropy of the final policy falls; those of the layers below hardly move.',
    },
    { phases: [two_skills_warm_start, { kind: 'rl', steps: 120 }] },
  ),
  preset(
    'partial-sft-addition',
    {
      name: 'Half-trained addition',
      summary:
        'A warm start that is stopped early, with every demonstration right; reinforcement learning goes on from there.',
      what_you_should_see:
        'Right answers are about 30 % of the samples at the switch and about 70 % after 200 steps; greedy accuracy goes from about 55 % to 89 % (three seeds). Where the warm start ends differs a lot from seed to seed, so compare runs of one seed only.',
    },
    {
      task: { id: 'partial_sft_addition' },
      phases: [half_trained(210), { kind: 'rl', steps: 200 }],
      rollout: { train_batch_size: 128, n: 4 },
      actor: { ppo_mini_batch_size: 64, optim: { lr: 0.00015 } },
    },
  ),
  preset(
    'reverse-digits',
    {
      name: 'Reverse six digits',
      summary: 'Writes a string of digits backwards, after a short warm start.',
      what_you_should_see:
        'Greedy accuracy starts near 60 % and reaches about 88 % in 160 steps; that of samples goes from about 20 % to 50 % (three seeds).',
    },
    {
      task: { id: 'reverse_digits', length: 6 },
      phases: [half_trained(115), { kind: 'rl', steps: 160 }],
    },
  ),
  preset(
    'sort-digits',
    {
      name: 'Sort six digits',
      summary: 'Writes a string of digits in ascending order; the shortest warm start of all.',
      what_you_should_see:
        'Greedy accuracy is near 78 % already at the switch and flat after 20 steps. Watch the samples instead: they go from about 18 % right to 51 % in 160 steps (one seed).',
    },
    {
      task: { id: 'sort_digits', length: 6 },
      phases: [half_trained(80), { kind: 'rl', steps: 160 }],
    },
  ),
  preset(
    'brackets',
    {
      name: 'Close the brackets',
      summary: 'Completes a string of opened brackets with the right closing ones.',
      what_you_should_see:
        'Greedy accuracy goes from about 49 % to 67 % in 160 steps, that of samples from about 15 % to 37 % (one seed). Slower than the other tasks, because the answers are longer.',
    },
    {
      task: { id: 'bracket_completion', length: 8 },
      phases: [half_trained(110), { kind: 'rl', steps: 160 }],
    },
  ),
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
        'After the warm start about two samples in three are right; the others mostly forget the carry. The reward model, a copy of the policy that never sees the task’s score, puts between 86 and 95 % of held-out pairs in the right order. In 40 steps of reinforcement against it the task’s score climbs to between 89 and 94 % (two seeds), at 0.2 nats per token from where it began. With so few sums the 20 held-out ones hardly gain: what is learned is which skill to use. With a KL weight of 0.05 the same run is a lesson: the task’s score rises to 83 % and falls to about 45 %, while the reward model’s stays high (one seed).',
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
        'After the warm start training waits for you: two answers to one sum, click the better. Sixteen verdicts, of which every fourth is held out, teach the reward model; with so few, its accuracy is a rough number. With 16 pairs judged by the task in a person’s stead, the share of right samples went from 66 to 86 % and from 59 to 76 % in 30 steps (two seeds). Prefer the sums that forget the carry, and the policy follows you there. More verdicts while it trains are used as they come; a copied link holds them.',
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

/** The preset of that id; undefined when there is none. */
export const presetOf = (id: string): Preset | undefined => PRESETS.find((p) => p.id === id)
