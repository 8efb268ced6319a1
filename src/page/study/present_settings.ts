// Finds what a new study means by the present settings.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { asSettings } from '../../document/experiment/steered/as_settings.ts'
import { nextExperiment } from '../state/next_experiment.ts'
import type { LabState } from '../state/store.ts'

/** What Train would begin, as settings that hold from the first step: phases that were inserted by
 * hand are phases like others. The same object while nothing changes. */
export const presentSettings = (state: LabState): Experiment => asSettings(nextExperiment(state))
