// Finds the name of a method, as papers and people say it.
import type { RlDocument } from '../experiment/fields/phases.ts'
import { settingsOf } from '../experiment/schema/phase_settings.ts'
import type { Experiment } from '../experiment/schema/schema.ts'
import { estimatorName } from '../experiment/steering/words.ts'

/** What people call the method of a phase, whichever layer it trains. */
export function methodName(experiment: Experiment, phase: RlDocument): string {
  const { adv_estimator } = phase
  const { norm_adv_by_std_in_grpo, filter_groups } = settingsOf(experiment, phase).algorithm
  if (adv_estimator === 'grpo' && filter_groups.enable) return 'DAPO'
  if (adv_estimator === 'grpo' && !norm_adv_by_std_in_grpo) return 'Dr. GRPO'
  return estimatorName(adv_estimator)
}
