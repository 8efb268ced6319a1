// Lists small experiments with teachers, inner layers that learn along, stale samples, a
// curriculum, a gate, steering vectors, Muon and an entropy target: most are another preset with
// one thing changed, so that both compare.
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
  preset('tiny-teacher', 'Tiny: from a larger teacher', {
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
  }),
  preset('tiny-teacher-advantage', 'Tiny: a teacher in place of the reward', {
    ...student,
    phases: [studentWarmStart, { kind: 'rl', steps: 60 }],
    actor: { ...actor, optim: { ...actor.optim, lr: 0.003 } },
    algorithm: { opd_kl_coef: 1, use_task_rewards: false },
  }),
  preset('tiny-inner', 'Tiny: the last layer teaches layer 2', {
    ...reinforced,
    actor: { ...actor, inner: { layers: '2', token_weight: 'advantage' } },
  }),
  preset('tiny-stale', 'Tiny: samples that are 4 steps old', {
    ...reinforced,
    rollout: { ...tiny.rollout, staleness: 4 },
    algorithm: { rollout_correction: { rollout_is: 'token' } },
  }),
  preset('tiny-curriculum', 'Tiny: a curriculum, from 3 digits to 5', {
    ...tiny,
    task: { id: 'sort_digits', length: 5 },
    model: warmModel,
    data: { curriculum: { param: 'length', start: 3, advance_at: 0.5 } },
    phases: [{ kind: 'rl', steps: 100 }],
  }),
  preset('tiny-admission', 'Tiny: only problems that still teach', {
    ...tiny,
    model: warmModel,
    data: { train_max_samples: 256, admission: { min_rate: 0.1, max_rate: 0.9 } },
    phases: [{ kind: 'rl', steps: 100 }],
  }),
  preset('tiny-vectors', 'Tiny: steering vectors', {
    ...tiny,
    model: { ...warmModel, steering_vectors: { trainable: true } },
    phases: [{ kind: 'rl', steps: 45 }],
    rollout: { train_batch_size: 32, n: 8 },
    actor: { ppo_mini_batch_size: 8, optim: { lr: 0.02, lr_warmup_steps: 5 } },
  }),
  preset('tiny-muon', 'Tiny: GRPO with Muon', {
    ...reinforced,
    actor: { ...actor, optim: { ...actor.optim, optimizer: 'Muon' } },
  }),
  preset('tiny-entropy-target', 'Tiny: GRPO with an entropy target', {
    ...reinforced,
    actor: { ...actor, use_adaptive_entropy: true, entropy_target: 0.8 },
  }),
]
