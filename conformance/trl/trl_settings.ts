// Reads GRPOConfig's settings as the lab's: TRL's loss "dapo" with its optimizer.
import type { RlPhase } from '../../src/rl/config/phase.ts'
import { CaseError, type Fields } from '../base/fields.ts'
import { goldenPhase } from '../hf/golden_actor.ts'

/** TRL adds this to a group's standard deviation (trl/trainer/grpo_trainer.py,
 * _generate_and_score_completions). */
export const TRL_EPSILON = 1e-4

/** TRL has no dual clip: a bound that no ratio of a run reaches. */
const NO_DUAL_CLIP = 100

/** One value of each that the lab follows; other values of these settings mean another
 * algorithm. */
const FIXED = {
  lr_scheduler_type: 'constant',
  warmup_steps: 0,
  adam_epsilon: 1e-8,
  beta: 0,
  loss_type: 'dapo',
  scale_rewards: 'group',
  importance_sampling_level: 'token',
  temperature: 1,
  top_p: 1,
  top_k: 0,
  gradient_accumulation_steps: 1,
  mask_truncated_completions: false,
} as const

/** A run of TRL's GRPOTrainer: its phase with one mini-batch per batch, and the responses to each
 * prompt. */
export interface TrlPlan {
  readonly phase: RlPhase
  readonly num_generations: number
}

/** Throws CaseError for settings that the lab does not follow. */
export function readPlan(settings: Fields, numHiddenLayers: number): TrlPlan {
  for (const [name, expected] of Object.entries(FIXED))
    if (settings.raw(name) !== expected)
      throw new CaseError(`${settings.where}.${name}: expected ${expected}, got another value`)
  settings.ignore('max_steps', 'num_iterations')
  const rows = settings.number('per_device_train_batch_size')
  const phase = goldenPhase(
    numHiddenLayers,
    { batch: rows, mini: rows },
    {
      clip_ratio_low: settings.number('epsilon'),
      clip_ratio_high: settings.number('epsilon_high'),
      clip_ratio_c: NO_DUAL_CLIP,
      grad_clip: settings.number('max_grad_norm'),
      optim: {
        lr: settings.number('learning_rate'),
        lr_warmup_steps: 0,
        lr_scheduler_type: 'constant',
        min_lr_ratio: 0,
        betas: [settings.number('adam_beta1'), settings.number('adam_beta2')],
        weight_decay: settings.number('weight_decay'),
        decay_norms: false,
      },
    },
  )
  return { phase, num_generations: settings.number('num_generations') }
}
