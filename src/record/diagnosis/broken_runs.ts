// Lists small experiments that go wrong on purpose, one for each way: the proof that the diagnoses
// see it.
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { DiagnosisName } from './diagnosis.ts'

/** An experiment and what is found in it, at least. */
export interface BrokenRun {
  readonly finds: readonly DiagnosisName[]
  readonly experiment: Experiment
}

const model = {
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  intermediate_size: 64,
}
const warmStart = {
  kind: 'sft',
  steps: 30,
  batch_size: 64,
  optim: { lr: 0.006, lr_warmup_steps: 5 },
}
const common = {
  model,
  rollout: { train_batch_size: 16, n: 4 },
  validation: { test_freq: null },
  probe: { freq: null },
}

function broken(finds: readonly DiagnosisName[], document: object): BrokenRun {
  const parsed = parseExperiment({ ...common, ...document })
  if (!parsed.ok)
    throw new RangeError(parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; '))
  return { finds, experiment: parsed.experiment }
}

/** public/models/small. */
const small = {
  ...model,
  num_hidden_layers: 4,
  vocab_size: 26,
  source: 'sha256-b8df087d16a97b53c0adc46d6229f2b1c710f854e7185945bbc664ea2be0ec6a',
  source_name: 'small',
}

export const BROKEN_RUNS: readonly BrokenRun[] = [
  broken(['reward_collapse', 'no_informative_groups'], {
    name: 'A learning rate far too high',
    task: { id: 'sort_digits', length: 2 },
    phases: [warmStart, { kind: 'rl', steps: 20 }],
    actor: { ppo_mini_batch_size: 4, ppo_epochs: 2, optim: { lr: 0.03, lr_warmup_steps: 5 } },
  }),
  // A wild learning rate ends in one answer or in noise, by rounding; this always in one answer.
  broken(['entropy_collapse', 'no_informative_groups'], {
    name: 'A reward for saying nothing',
    task: { id: 'sort_digits', length: 2 },
    reward: {
      parts: [
        { id: 'length', weight: 0.4, shortest: 0, longest: 0, slope: 4 },
        { id: 'exact_match', weight: 0.6 },
      ],
    },
    phases: [warmStart, { kind: 'rl', steps: 30 }],
    actor: { ppo_mini_batch_size: 8, ppo_epochs: 2, optim: { lr: 0.01, lr_warmup_steps: 5 } },
  }),
  broken(['length_growth', 'cut_off', 'kl_runaway'], {
    name: 'An entropy bonus far too large',
    task: { id: 'sort_digits', length: 2 },
    phases: [warmStart, { kind: 'rl', steps: 18 }],
    rollout: { train_batch_size: 16, n: 4, max_response_length: 12 },
    actor: {
      ppo_mini_batch_size: 8,
      entropy_coeff: 1,
      use_kl_loss: true,
      kl_loss_coef: 0,
      optim: { lr: 0.005, lr_warmup_steps: 5 },
    },
  }),
  broken(['entropy_target_missed'], {
    name: 'An entropy target that a weak bonus cannot reach',
    task: { id: 'sort_digits', length: 2 },
    phases: [warmStart, { kind: 'rl', steps: 30 }],
    actor: {
      ppo_mini_batch_size: 8,
      use_adaptive_entropy: true,
      entropy_target: 2.5,
      entropy_coef_max: 0.001,
      optim: { lr: 0.001, lr_warmup_steps: 5 },
    },
  }),
  broken(['clip_fraction', 'kl_runaway'], {
    name: 'Each batch gone over far too often',
    task: { id: 'sort_digits', length: 2 },
    phases: [warmStart, { kind: 'rl', steps: 12, adv_estimator: 'reinforce_plus_plus' }],
    rollout: { train_batch_size: 64, n: 1 },
    actor: {
      ppo_mini_batch_size: 32,
      ppo_epochs: 8,
      clip_ratio_low: 0.02,
      clip_ratio_high: 0.02,
      optim: { lr: 0.003, lr_warmup_steps: 2 },
    },
  }),
  broken(['chosen_logps_fall'], {
    name: 'Preferences learned far too fast',
    task: { id: 'sort_digits', length: 2 },
    phases: [
      warmStart,
      {
        kind: 'preference',
        steps: 20,
        batch_size: 16,
        optim: { lr: 0.02, lr_warmup_steps: 5 },
        pairs: { count: 64, held_out: 8 },
      },
    ],
  }),
  broken(['teacher_caught_up'], {
    name: 'A teacher that soon has nothing to say',
    task: { id: 'sort_digits', length: 2 },
    // The student has the teacher's own weights, and a few demonstrations took it away from them.
    model: small,
    teacher: small,
    phases: [
      { kind: 'sft', steps: 10, batch_size: 64, optim: { lr: 0.0005, lr_warmup_steps: 2 } },
      {
        kind: 'distill',
        steps: 70,
        batch_size: 128,
        target_layer: 'final',
        optim: { lr: 0.001, lr_warmup_steps: 5, lr_scheduler_type: 'cosine' },
        distillation: { teacher: 'model' },
      },
    ],
  }),
  broken(['teacher_caught_up'], {
    name: 'A teacher in place of the reward that soon agrees',
    task: { id: 'sort_digits', length: 2 },
    model: small,
    teacher: small,
    phases: [
      { kind: 'sft', steps: 2, batch_size: 64, optim: { lr: 0.0003, lr_warmup_steps: 0 } },
      { kind: 'rl', steps: 50 },
    ],
    // Many samples: a mean of few is not near 0 in five steps in a row.
    rollout: { train_batch_size: 128, n: 4 },
    actor: {
      ppo_mini_batch_size: 64,
      optim: { lr: 0.0003, lr_warmup_steps: 2, lr_scheduler_type: 'cosine' },
    },
    algorithm: { opd_kl_coef: 1, use_task_rewards: false },
  }),
  broken(['value_loss_flat'], {
    name: 'A critic that does not learn',
    task: { id: 'sort_digits', length: 2 },
    phases: [warmStart, { kind: 'rl', steps: 45, adv_estimator: 'gae' }],
    rollout: { train_batch_size: 64, n: 1 },
    actor: { ppo_mini_batch_size: 32, optim: { lr: 0.0003, lr_warmup_steps: 5 } },
    critic: { optim: { lr: 0.000001 } },
  }),
  broken(['held_out_gap'], {
    name: 'Demonstrations learned by heart',
    task: { id: 'partial_sft_addition', digits: 1 },
    model: { ...model, hidden_size: 64, head_dim: 16, intermediate_size: 128 },
    phases: [
      { kind: 'sft', steps: 60, batch_size: 256, optim: { lr: 0.01, lr_warmup_steps: 10 } },
      { kind: 'rl', steps: 12 },
    ],
    actor: { ppo_mini_batch_size: 8, optim: { lr: 0.0003, lr_warmup_steps: 5 } },
    validation: { test_freq: 33, prompts: 20, n: 8 },
  }),
]
