// Lists the experiments on the menu. An id never changes its meaning, because links name it: a
// changed one gets a new id.
import { type Preset, preset } from './preset.ts'
import { REAL_PRESETS } from './presets_real.ts'
import { STORY_PRESETS } from './presets_story.ts'
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
  preset('two-skills-bupo', 'Two-skills addition, BuPO', {
    phases: [
      twoSkillsWarmStart,
      { kind: 'rl', steps: 12, target_layer: 5 },
      { kind: 'rl', steps: 108 },
    ],
  }),
  preset('two-skills-grpo', 'Two-skills addition, GRPO', {
    phases: [twoSkillsWarmStart, { kind: 'rl', steps: 120 }],
  }),
  preset('two-skills-ppo', 'Two-skills addition, PPO', {
    phases: [twoSkillsWarmStart, { kind: 'rl', steps: 120, adv_estimator: 'gae' }],
    rollout: { train_batch_size: 256, n: 1 },
    actor: { ppo_mini_batch_size: 128 },
    critic: { optim: { lr: 0.001, lr_warmup_steps: 10, betas: [0.9, 0.95], weight_decay: 0 } },
    algorithm: { lam: 0.95 },
  }),
  preset('partial-sft-addition', 'Half-trained addition', {
    task: { id: 'partial_sft_addition' },
    phases: [halfTrained(210), { kind: 'rl', steps: 200 }],
    rollout: { train_batch_size: 128, n: 4 },
    actor: { ppo_mini_batch_size: 64, optim: { lr: 0.00015 } },
  }),
  preset('reverse-digits', 'Reverse six digits', {
    task: { id: 'reverse_digits', length: 6 },
    phases: [halfTrained(115), { kind: 'rl', steps: 160 }],
  }),
  preset('sort-digits', 'Sort six digits', {
    task: { id: 'sort_digits', length: 6 },
    phases: [halfTrained(80), { kind: 'rl', steps: 160 }],
  }),
  preset('brackets', 'Close the brackets', {
    task: { id: 'bracket_completion', length: 8 },
    phases: [halfTrained(110), { kind: 'rl', steps: 160 }],
  }),
  preset('calculator-products', 'Products with a calculator', {
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
  }),
  preset('countdown-pretrained', 'Countdown, from a pretrained model', {
    task: { id: 'countdown' },
    model: pretrainedModel,
    phases: [{ kind: 'rl', steps: 100 }],
    rollout: { train_batch_size: 32, n: 8 },
    actor: { ppo_mini_batch_size: 32, optim: { lr: 0.0003, lr_warmup_steps: 5 } },
    validation: { prompts: 128, n: 1 },
  }),
  ...TINY_PRESETS,
  ...TAUGHT_PRESETS,
  ...STORY_PRESETS,
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
