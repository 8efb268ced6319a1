// What a document asks for and a run of it does not do. No error: earlier documents hold it, and they stay readable.
import { validationPrompts } from '../rl/phase.ts'
import { continuesSchedule } from '../rl/schedule.ts'
import { hasCritic } from './conditions.ts'
import { settingsOf } from './phase_settings.ts'
import { taskOf } from './rules.ts'
import type { Experiment } from './schema.ts'

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
]

function promptRemarks({ task, validation }: Experiment): Remark[] {
  const asked = validationPrompts(validation, taskOf(task))
  if (validation.test_freq === 0 || asked === validation.prompts) return []
  const message = `This task holds out ${asked} problems, so every evaluation asks these ${asked}, each once, and not ${validation.prompts}.`
  return [{ path: 'validation.prompts', message }]
}

/** A phase's own warm-up, where the schedule of the phase before it goes on. */
function warmupRemarks(experiment: Experiment): Remark[] {
  const { phases } = experiment
  return phases.flatMap((phase, i) => {
    if (phase.kind !== 'rl' || !continuesSchedule(phases, i)) return []
    const has_critic = hasCritic(settingsOf(experiment, phase))
    const own = phase.actor?.optim?.lr_warmup_steps ?? 0
    const of_critic = (has_critic && phase.critic?.optim?.lr_warmup_steps) || 0
    const steps = Math.max(own, of_critic)
    if (steps === 0) return []
    const message = `Phase ${i + 1} has a warm-up of its own (${steps} steps), which has no effect: it goes on with the schedule of the phase before it, unless the schedule is restarted.`
    return [{ path: `phases.${i}.reset_schedule`, message }]
  })
}
