// Small experiments with teachers, inner layers that learn along, stale samples, a curriculum, Muon
// and an entropy target: most are another preset with one thing changed, so that both compare.
import { type Preset, preset } from './preset.ts'
import { tiny, tinyModel, tinyWarmStart, warmModel } from './presets_tiny.ts'

/** public/models/small: twice as many layers as its student. */
const teacher = {
  ...tinyModel,
  num_hidden_layers: 4,
  vocab_size: 26,
  source: 'sha256-b8df087d16a97b53c0adc46d6229f2b1c710f854e7185945bbc664ea2be0ec6a',
  source_name: 'small',
}

/** A student of two layers that has seen few demonstrations. */
const student = {
  ...tiny,
  model: { ...tinyModel, num_hidden_layers: 2 },
  teacher,
}
const studentWarmStart = {
  kind: 'sft',
  steps: 60,
  batch_size: 32,
  optim: { lr: 0.004, lr_warmup_steps: 50 },
}

/** `tiny-grpo` with something else in its reinforcement. */
const reinforced = { ...tiny, phases: [tinyWarmStart, { kind: 'rl', steps: 100 }] }
const { actor } = tiny

/** In the order of the menu, behind the other small ones. */
export const TAUGHT_PRESETS: readonly Preset[] = [
  preset(
    'tiny-teacher',
    {
      name: 'Tiny: from a larger teacher',
      summary:
        'A student of 2 layers writes, and a shipped model of 4 layers says at every token what it would have written: on-policy distillation by the divergence of both.',
    },
    {
      ...student,
      phases: [
        studentWarmStart,
        {
          kind: 'distill',
          steps: 60,
          batch_size: 128,
          target_layer: 'final',
          optim: { lr: 0.003, lr_warmup_steps: 5 },
          distillation: { teacher: 'model' },
        },
      ],
    },
  ),
  preset(
    'tiny-teacher-advantage',
    {
      name: 'Tiny: a teacher in place of the reward',
      summary:
        'The same student and teacher in a phase of reinforcement: the advantage of a token is how much likelier the teacher finds it, and no answer is checked.',
    },
    {
      ...student,
      phases: [studentWarmStart, { kind: 'rl', steps: 60 }],
      actor: { ...actor, optim: { ...actor.optim, lr: 0.003 } },
      algorithm: { opd_kl_coef: 1, use_task_rewards: false },
    },
  ),
  preset(
    'tiny-inner',
    {
      name: 'Tiny: the last layer teaches layer 2',
      summary:
        'GRPO, and beside it the final policy of the same pass teaches layer 2 of 3 what it says of the tokens of good answers, and drives it away from those of bad ones (OISD).',
    },
    { ...reinforced, actor: { ...actor, inner: { layers: '2', token_weight: 'advantage' } } },
  ),
  preset(
    'tiny-stale',
    {
      name: 'Tiny: samples that are 4 steps old',
      summary:
        'GRPO as a system runs it that samples and trains at once: every batch was written by the policy of 4 steps before, and importance weights correct for it.',
    },
    {
      ...reinforced,
      rollout: { ...tiny.rollout, staleness: 4 },
      algorithm: { rollout_correction: { rollout_is: 'token' } },
    },
  ),
  preset(
    'tiny-curriculum',
    {
      name: 'Tiny: from three digits to 5',
      summary:
        'A model that begins to sort 3 digits meets problems of 3, then of 4, then of 5, each as soon as half of its answers are right.',
    },
    {
      ...tiny,
      task: { id: 'sort_digits', length: 5 },
      model: warmModel,
      data: { curriculum: { param: 'length', start: 3, advance_at: 0.5 } },
      phases: [{ kind: 'rl', steps: 100 }],
    },
  ),
  preset(
    'tiny-muon',
    {
      name: 'Tiny: GRPO with Muon',
      summary:
        'GRPO whose matrices are updated by Muon, in steps that are about equally long in all directions; AdamW updates the rest.',
    },
    { ...reinforced, actor: { ...actor, optim: { ...actor.optim, optimizer: 'Muon' } } },
  ),
  preset(
    'tiny-entropy-target',
    {
      name: 'Tiny: GRPO with an entropy target',
      summary:
        'GRPO with an entropy bonus whose weight grows in every step in which the entropy is at or below 0.8 nats, and falls again above it.',
    },
    {
      ...reinforced,
      actor: { ...actor, use_adaptive_entropy: true, entropy_target: 0.8 },
    },
  ),
]
