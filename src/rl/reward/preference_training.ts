// Keeps the pairs that a preference phase learns from, and the log-probs that the frozen reference
// gives their responses.
import type { PreferencePhase } from '../config/phase.ts'
import { preferenceRefusal } from '../preferences/settings.ts'
import { drawPairs, type SequenceRow, scoresAlike } from './pairs.ts'
import { type PhasePairSource, phasePairs } from './phase_pairs.ts'
import { Preferences, type PreferencesState } from './preferences.ts'

/** The pairs of the present preference phase, of any kind of loss. */
export class PreferenceTraining {
  readonly #seed: number
  #preferences: Preferences | undefined
  /** The reference never changes in a phase, so its log-probs of a row are computed once; [R]. */
  #references = new Map<SequenceRow, Float32Array>()

  constructor(seed: number) {
    this.#seed = seed
  }

  /** The present phase's; undefined before the first. */
  get preferences(): Preferences | undefined {
    return this.#preferences
  }

  /** Begins a phase: draws its pairs. Throws NoPairsError where there are none, RangeError for
   * settings that contradict each other. */
  async begin(
    { kind, pairs, preference }: PreferencePhase,
    source: PhasePairSource,
  ): Promise<void> {
    const refusal = preferenceRefusal(preference)
    if (refusal) throw new RangeError(`preference.${refusal}`)
    this.#preferences = new Preferences(pairs, this.#seed, await phasePairs(pairs, source, kind))
    this.#references.clear()
  }

  /** Whether the policy makes new pairs after `taken` steps of a phase. Not where no step has seen
   * the present ones: a trainer may be asked more than once before a step. */
  isDue({ refresh_steps }: PreferencePhase, taken: number): boolean {
    return !!refresh_steps && taken % refresh_steps === 0 && !!this.#preferences?.is_used
  }

  /** The present policy makes `count` new pairs to train on. Where all its responses are ties, the
   * old ones stay. */
  async refresh(count: number, source: PhasePairSource): Promise<void> {
    const drawn = await drawPairs(source, count, scoresAlike)
    this.#preferences = this.#preferences?.refreshed(drawn)
    this.#references.clear()
  }

  /** Continues a phase that began in another trainer. */
  resume({ pairs }: PreferencePhase, state: PreferencesState): void {
    this.#preferences = Preferences.resume(pairs, this.#seed, state)
    this.#references.clear()
  }

  /** The reference's log-probs of a row, where they were kept. */
  reference(row: SequenceRow): Float32Array | undefined {
    return this.#references.get(row)
  }

  keepReference(row: SequenceRow, log_probs: Float32Array): void {
    this.#references.set(row, log_probs)
  }
}
