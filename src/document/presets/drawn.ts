// Reads the figures of committed runs from which a preset's picture is drawn. `npm run presets`
// makes them from bench/results/presets; the page loads them with the gallery.
import presets_drawn from './presets_drawn.json' with { type: 'json' }

/** A step of reinforcement, counted from the end of the warm start, and a value. */
type Point = readonly [step: number, value: number]

export interface PresetFigures {
  /** Of the runs, growing. */
  readonly seeds: readonly number[]
  /** What they ran on. */
  readonly adapters: string
  /** Steps of reinforcement. */
  readonly steps: number
  /** The curve is of held-out samples, as a share that is right: there is no reward, or it is not
   * of the same problems all along. */
  readonly is_held_out?: boolean
  /** The sampled reward of each run, averaged over a few steps. */
  readonly reward: readonly (readonly Point[])[]
  /** The entropy of each layer's policy after the first and the last step of reinforcement, layer 0
   * first, nats; means of all runs. */
  readonly entropy_first: readonly number[]
  readonly entropy_last: readonly number[]
}

const DRAWN: Readonly<Record<string, unknown>> = presets_drawn

/** Undefined for a preset of which no run is recorded. */
export const figuresOf = (id: string): PresetFigures | undefined =>
  Object.hasOwn(DRAWN, id) ? (DRAWN[id] as PresetFigures) : undefined
