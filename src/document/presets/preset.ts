// Declares an entry of the menu, and how one is written.
import { parseExperiment } from '../experiment/experiment.ts'
import type { Experiment } from '../experiment/schema/schema.ts'

export interface Preset {
  readonly id: string
  readonly name: string
  readonly experiment: Experiment
}

/** A preset is written as what differs from the defaults. Its sentence is in summaries.ts. */
export function preset(id: string, name: string, document: object): Preset {
  const parsed = parseExperiment({ name, ...document })
  if (!parsed.ok)
    throw new RangeError(
      `preset ${id}: ${parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    )
  return { id, name, experiment: parsed.experiment }
}
