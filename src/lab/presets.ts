// The experiments on the menu. An id never changes its meaning, because links name it: a changed one gets a new id.
import { type Preset, preset } from './preset.ts'
import { TINY_PRESETS } from './presets_tiny.ts'

export type { Preset }

/** 400 steps at 0.003: enough for both skills, and no more of the right one than its demonstrations. */
const two_skills_warm_start = { kind: 'sft', steps: 400 }

/** A warm start that stops while sampled answers are still mostly wrong. */
const half_trained = (steps: number) => ({ kind: 'sft', steps, optim: { lr: 0.002 } })

/** Every preset, in the order of the menu; a new visitor sees the first. */
export const PRESETS: readonly Preset[] = [
  preset(
    'two-skills-bupo',
    {
      name: 'Two-skills addition, BuPO',
      summary:
        'After the warm start, 12 steps train the policy that layer 5 already holds; then the whole model is trained.',
      what_you_should_see:
        'The warm start ends between 25 and 29 % greedy accuracy, because most demonstrations forget the carries. The inner phase lowers the entropy of layer 5. Then accuracy climbs: to about 57 % after 20 steps of reinforcement, 83 % after 40 and between 92 and 94 % at the end (three seeds; GRPO from the same warm starts: 66, 84 and between 91 and 95 %). Learning here selects a skill that the model already has; it does not teach addition. At this size an inner phase does not beat plain GRPO: look at the entropies, not at the final score.',
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
        'The warm start ends between 25 and 29 % greedy accuracy. Reinforcement takes it to about 66 % in 20 steps, 84 % in 40 and between 91 and 95 % in 120; the sampled reward ends near 81 % (three seeds). The entropy of the final policy falls; those of the layers below hardly move.',
    },
    { phases: [two_skills_warm_start, { kind: 'rl', steps: 120 }] },
  ),
  preset(
    'two-skills-ppo',
    {
      name: 'Two-skills addition, PPO',
      summary:
        'As many rollouts per step as GRPO, spent differently: one response to each of 256 prompts, and a critic in place of groups.',
      what_you_should_see:
        'Greedy accuracy goes from between 25 and 29 % to about 77 % in 20 steps of reinforcement, 89 % in 40 and between 95 and 97 % in 120; the sampled reward ends near 86 %. That is 1 to 4 points above GRPO from the same warm starts in each of three seeds. Do not credit the critic: 256 different problems a step teach more than 32. Where that was taken apart, on addition with right demonstrations only, PPO and the plain mean of the batch as a baseline ended at 65 % alike, and both GRPO and that baseline on 32 prompts × 8 responses at 51 %.',
    },
    {
      phases: [two_skills_warm_start, { kind: 'rl', steps: 120, adv_estimator: 'gae' }],
      rollout: { train_batch_size: 256, n: 1 },
      actor: { ppo_mini_batch_size: 128 },
      critic: { optim: { lr: 0.001, lr_warmup_steps: 10, betas: [0.9, 0.95], weight_decay: 0 } },
      algorithm: { lam: 0.95 },
    },
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
        'Greedy accuracy starts near 60 % and reaches about 88 % in 160 steps; that of samples goes from about 25 % to between 50 and 58 % (four seeds).',
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
        'Greedy accuracy is near 80 % already at the switch, 93 % after 20 steps and flat from there. Watch the samples instead: they go from about 20 % right to 52 % in 160 steps (two seeds).',
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
  ...TINY_PRESETS,
]

/** The preset of that id; undefined when there is none. */
export const presetOf = (id: string): Preset | undefined => PRESETS.find((p) => p.id === id)
