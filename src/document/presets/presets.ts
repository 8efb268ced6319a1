// The experiments on the menu. An id never changes its meaning, because links name it: a changed
// one gets a new id.
import { type Preset, preset } from './preset.ts'
import { REAL_PRESETS } from './presets_real.ts'
import { TAUGHT_PRESETS } from './presets_taught.ts'
import { TINY_PRESETS } from './presets_tiny.ts'

export type { Preset }

/** 400 steps at 0.003: enough for both skills, and no more of the right one than its
 * demonstrations. */
const twoSkillsWarmStart = { kind: 'sft', steps: 400 }

/** A warm start that stops while sampled answers are still mostly wrong. */
const halfTrained = (steps: number) => ({ kind: 'sft', steps, optim: { lr: 0.002 } })

/** public/models/arithmetic: its sizes are the defaults. */
const pretrainedModel = {
  vocab_size: 26,
  padding_idx: 0,
  source: 'sha256-b848b105dcfe792ec9cb853d46af019e2dbd751c7be397b48df82bd04394c576',
  source_name: 'arithmetic',
}

/** Every preset, in the order of the menu; a link that names none is of the first. */
export const PRESETS: readonly Preset[] = [
  preset(
    'two-skills-bupo',
    {
      name: 'Two-skills addition, BuPO',
      summary:
        'After the warm start, 12 steps train the policy that layer 5 already holds; then the whole model is trained.',
    },
    {
      phases: [
        twoSkillsWarmStart,
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
    },
    { phases: [twoSkillsWarmStart, { kind: 'rl', steps: 120 }] },
  ),
  preset(
    'two-skills-ppo',
    {
      name: 'Two-skills addition, PPO',
      summary:
        'As many rollouts per step as GRPO, spent differently: one response to each of 256 prompts, and a critic in place of groups.',
    },
    {
      phases: [twoSkillsWarmStart, { kind: 'rl', steps: 120, adv_estimator: 'gae' }],
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
        'A warm start that is stopped early, with every demonstration right; reinforcement learning continues from there.',
    },
    {
      task: { id: 'partial_sft_addition' },
      phases: [halfTrained(210), { kind: 'rl', steps: 200 }],
      rollout: { train_batch_size: 128, n: 4 },
      actor: { ppo_mini_batch_size: 64, optim: { lr: 0.00015 } },
    },
  ),
  preset(
    'reverse-digits',
    {
      name: 'Reverse six digits',
      summary: 'Writes a string of digits backwards, after a short warm start.',
    },
    {
      task: { id: 'reverse_digits', length: 6 },
      phases: [halfTrained(115), { kind: 'rl', steps: 160 }],
    },
  ),
  preset(
    'sort-digits',
    {
      name: 'Sort six digits',
      summary: 'Writes a string of digits in ascending order; the shortest warm start of all.',
    },
    {
      task: { id: 'sort_digits', length: 6 },
      phases: [halfTrained(80), { kind: 'rl', steps: 160 }],
    },
  ),
  preset(
    'brackets',
    {
      name: 'Close the brackets',
      summary: 'Completes a string of opened brackets with the right closing ones.',
    },
    {
      task: { id: 'bracket_completion', length: 8 },
      phases: [halfTrained(110), { kind: 'rl', steps: 160 }],
    },
  ),
  preset(
    'calculator-products',
    {
      name: 'Products with a calculator',
      summary:
        'Some demonstrations ask a calculator, most just know the product; the reward finds out which of the two works.',
    },
    {
      task: { id: 'calculator_products', digits: 2, tool_share: 0.4 },
      tools: [{ id: 'calculator' }],
      model: {
        hidden_size: 128,
        num_hidden_layers: 2,
        num_attention_heads: 4,
        num_key_value_heads: 4,
        intermediate_size: 256,
      },
      phases: [
        { kind: 'sft', steps: 220, batch_size: 64, optim: { lr: 0.004, lr_warmup_steps: 20 } },
        { kind: 'rl', steps: 24 },
      ],
      rollout: { max_turns: 2, train_batch_size: 8, n: 8 },
      actor: { ppo_mini_batch_size: 8, optim: { lr: 0.001 } },
      validation: { prompts: 64, n: 1 },
      probe: { rows: 32 },
    },
  ),
  preset(
    'countdown-pretrained',
    {
      name: 'Countdown, from a pretrained model',
      summary:
        'Begins with a model that the lab pretrained on right answers to six tasks and ships; reinforcement makes it good at one of them.',
    },
    {
      task: { id: 'countdown' },
      model: pretrainedModel,
      phases: [{ kind: 'rl', steps: 100 }],
      rollout: { train_batch_size: 32, n: 8 },
      actor: { ppo_mini_batch_size: 32, optim: { lr: 0.0003, lr_warmup_steps: 5 } },
      validation: { prompts: 128, n: 1 },
    },
  ),
  ...TINY_PRESETS,
  ...TAUGHT_PRESETS,
  ...REAL_PRESETS,
]

/** The preset of that id; undefined when there is none. */
export const presetOf = (id: string): Preset | undefined => PRESETS.find((p) => p.id === id)

/** What the page opens with where no link says otherwise, until it knows its adapter: small enough
 * for a software adapter, and reinforcement from its first step. */
export const OPENING: Preset = presetOf('first-steps') ?? PRESETS[0]

/** What it opens with on an adapter. On a software adapter, where a step of the first run takes
 * tenths of a second, its 45 steps of 256 responses fit into a minute. A GPU takes hundredths, and
 * would be done before anybody has read a caption: there the run has 120 steps of 512 responses,
 * whose curves are smoother. */
export const openingOn = ({ is_software }: { readonly is_software: boolean }): Preset =>
  (is_software ? undefined : presetOf('first-steps-gpu')) ?? OPENING
