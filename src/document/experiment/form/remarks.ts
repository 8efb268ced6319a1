// Lists what a document asks for and its run will not do. These are no errors: earlier documents
// hold them and stay readable.

import { continuesSchedule } from '../../../rl/config/schedule.ts'
import { everValidates, validationPrompts } from '../../../rl/config/validation.ts'
import { taskOf } from '../fields/task_fields.ts'
import { hasCritic, settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'

/** What a run does otherwise than a field says. */
export interface Remark {
  /** The field beside which it is shown. */
  readonly path: string
  /** A sentence. */
  readonly message: string
}

/** Everything that a run of this experiment does otherwise than its fields say. */
export const remarksOf = (experiment: Experiment): Remark[] => [
  ...promptRemarks(experiment),
  ...warmupRemarks(experiment),
  ...weightRemarks(experiment),
]

function promptRemarks({ task, validation }: Experiment): Remark[] {
  const asked = validationPrompts(validation, taskOf(task))
  if (!everValidates(validation) || asked === validation.prompts) return []
  const message = `This task holds out ${asked} problems, so every evaluation asks these ${asked}, each once, and not ${validation.prompts}.`
  return [{ path: 'validation.prompts', message }]
}

interface Warmup {
  readonly lr_warmup_steps?: number | null | undefined
  readonly lr_warmup_steps_ratio?: number | undefined
}

/** How long a phase says that its own warm-up is; undefined where it says nothing. */
function warmupWords(optims: readonly (Warmup | undefined | false)[]): string | undefined {
  const own = optims.flatMap((optim) => optim || [])
  const steps = Math.max(0, ...own.map(({ lr_warmup_steps }) => lr_warmup_steps ?? 0))
  if (steps > 0) return `${steps} steps`
  return own.some(
    ({ lr_warmup_steps = 0, lr_warmup_steps_ratio = 0 }) =>
      lr_warmup_steps === null || lr_warmup_steps_ratio > 0,
  )
    ? 'a share of its steps'
    : undefined
}

/** A phase's own warm-up, where it continues the schedule of the phase before it. */
function warmupRemarks(experiment: Experiment): Remark[] {
  const { phases } = experiment
  return phases.flatMap((phase, i) => {
    if (phase.kind !== 'rl' || !continuesSchedule(phases, i)) return []
    const withCritic = hasCritic(settingsOf(experiment, phase))
    const words = warmupWords([phase.actor?.optim, withCritic && phase.critic?.optim])
    if (words === undefined) return []
    const message = `Phase ${i + 1} has a warm-up of its own (${words}), which has no effect: it continues the schedule of the phase before it, unless the schedule is restarted.`
    return [{ path: `phases.${i}.reset_schedule`, message }]
  })
}

/** Weights that verl, too, computes for the metrics alone. */
function weightRemarks(experiment: Experiment): Remark[] {
  const name = 'algorithm.rollout_correction.rollout_is'
  const paths = experiment.phases.flatMap((phase, i) => {
    if (phase.kind !== 'rl') return []
    const { bypass_mode, loss_type, rollout_is } = settingsOf(experiment, phase).algorithm
      .rollout_correction
    if (!bypass_mode || loss_type !== 'ppo_clip' || rollout_is === null) return []
    return [phase.algorithm?.rollout_correction?.rollout_is ? `phases.${i}.${name}` : name]
  })
  const message =
    'These weights are only measured: in bypass mode the ratio of the clipped PPO already is the importance weight.'
  return [...new Set(paths)].map((path) => ({ path, message }))
}
