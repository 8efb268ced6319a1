// Finds the run whose settings the next one begins with.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { presetOf } from '../../../document/presets/presets.ts'

let nextParent: string | undefined

/** The settings were taken from this run. */
export function setNextParent(id: string | undefined): void {
  nextParent = id
}

/** The run whose settings a document goes back to; none for a preset as it is. */
export const parentOf = (presetId: string, document: Experiment): string | undefined =>
  presetOf(presetId)?.experiment === document ? undefined : nextParent
