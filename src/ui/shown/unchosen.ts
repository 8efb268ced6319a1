// Selects whether the settings are still those that the page opens with.
import { sameSettings } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { openingOn } from '../../document/presets/presets.ts'
import type { LabState } from '../../page/state/store.ts'

const OPENINGS = [true, false].map((is_software) => openingOn({ is_software }))

/** Nobody has chosen an experiment: the settings are those that the page opens with. */
export const selectIsUnchosen = ({ experiment }: LabState): boolean => {
  if (compared?.experiment !== experiment)
    compared = {
      experiment,
      is_first: OPENINGS.some((opening) => sameSettings(experiment, opening.experiment)),
    }
  return compared.is_first
}
/** Compared once for each experiment: the store changes with every step. */
let compared: { readonly experiment: Experiment; readonly is_first: boolean } | undefined
