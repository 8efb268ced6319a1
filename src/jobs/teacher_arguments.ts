// Tells verl of another model that teaches by the KL of sampled tokens: its k1 with
// use_policy_gradient. Source: verl v0.9.0, verl/trainer/distillation/losses.py.
import type { PhaseSettings } from '../document/experiment/schema/phase_settings.ts'
import { asksTeacher } from '../rl/config/algorithm.ts'
import type { Note } from './settings/carry.ts'
import type { JobFacts, VerlValue } from './settings/setting.ts'

/** The section of verl's command; the student's GPU samples and trains, the teacher has another. */
export function teacherArguments({ actor }: PhaseSettings): Record<string, VerlValue> {
  const TEACHER = 'distillation.teacher_models.teacher_model'
  const LOSS = 'distillation.distillation_loss'
  return {
    'distillation.enabled': true,
    'distillation.n_gpus_per_node': 1,
    'distillation.nnodes': 1,
    [`${TEACHER}.model_path`]: { in_job: 'teacher' },
    [`${TEACHER}.inference.tensor_model_parallel_size`]: 1,
    [`${TEACHER}.inference.gpu_memory_utilization`]: 0.4,
    [`${LOSS}.loss_mode`]: 'k1',
    [`${LOSS}.use_policy_gradient`]: true,
    [`${LOSS}.policy_loss_mode`]: 'vanilla',
    [`${LOSS}.clip_ratio_low`]: actor.clip_ratio_low,
    [`${LOSS}.clip_ratio_high`]: actor.clip_ratio_high,
  }
}

/** verl's default, because the configuration of its teacher lacks the name. */
const CLIP_RATIO_C = 3

/** What is not quite the same after the first update of a step: until then every ratio is 1. */
export function teacherDifferences({ settings, updates }: JobFacts): Note[] {
  if (!asksTeacher(settings) || updates === 1) return []
  const { opd_kl_coef } = settings.algorithm
  const { clip_ratio_c } = settings.actor
  const path = 'algorithm.opd_kl_coef'
  const why =
    'after the first update of a step it takes the KL of the policy as it is by then, not as it sampled, and clips the teacher’s part by itself'
  return [
    { path, value: opd_kl_coef, why },
    ...(clip_ratio_c === CLIP_RATIO_C
      ? []
      : [
          {
            path: 'actor.clip_ratio_c',
            value: clip_ratio_c,
            why: `the teacher’s part of its loss always has ${CLIP_RATIO_C}`,
          },
        ]),
  ]
}
