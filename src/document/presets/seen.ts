// Reads the results of the presets' runs. `npm run presets` computes them from
// bench/results/presets; the page loads them when somebody asks.
import presets_seen from './presets_seen.json' with { type: 'json' }

export interface PresetSeen {
  /** What a run of it looks like when all is well, with the numbers that were measured. */
  readonly what_you_should_see: string
  /** How many runs, of which seeds, on which adapters; '' where none was made. */
  readonly measured: string
  /** Greedy accuracy on held-out problems at the end, from the lowest to the highest seed; '' where
   * right answers are not what a run is about, or none was made. */
  readonly usual_accuracy: string
  readonly seeds: number
}

const SEEN: Readonly<Record<string, PresetSeen>> = presets_seen

/** What was seen of a preset; undefined before `npm run presets` has run it. */
export const seenOf = (id: string): PresetSeen | undefined => SEEN[id]
