// What runs of the presets came to: loaded after the page is seen.
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

const SEEN: Readonly<Record<string, PresetSeen>> = presets_seen
const UNSEEN: PresetSeen = { what_you_should_see: '', measured: '', command: '' }

export const presetSeen = (id: string): PresetSeen => SEEN[id] ?? UNSEEN
