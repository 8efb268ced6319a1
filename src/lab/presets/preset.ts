// What an entry of the menu is, and how one is written.
import { parseExperiment } from '../experiment/experiment.ts'
import type { Experiment } from '../experiment/schema.ts'
import presets_seen from './presets_seen.json' with { type: 'json' }

/** What runs of a preset came to. `npm run presets` computes it from bench/results/presets. */
export interface PresetSeen {
  /** What a run of it looks like when all is well, with the numbers that were measured. */
  readonly what_you_should_see: string
  /** How many runs, of which seeds, on which adapters; '' where none was made. */
  readonly measured: string
  /** What makes one of those runs again in a shell. */
  readonly command: string
}

export interface Preset extends PresetSeen {
  readonly id: string
  readonly name: string
  /** One sentence for the menu. */
  readonly summary: string
  readonly experiment: Experiment
}

const SEEN: Readonly<Record<string, PresetSeen>> = presets_seen
const UNSEEN: PresetSeen = { what_you_should_see: '', measured: '', command: '' }

/** A preset is written as what differs from the defaults. */
export function preset(
  id: string,
  said: Pick<Preset, 'name' | 'summary'>,
  document: object,
): Preset {
  const parsed = parseExperiment({ name: said.name, ...document })
  if (!parsed.ok)
    throw new RangeError(
      `preset ${id}: ${parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    )
  return { id, ...said, ...(SEEN[id] ?? UNSEEN), experiment: parsed.experiment }
}
