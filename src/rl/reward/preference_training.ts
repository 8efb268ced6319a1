// Keeps the pairs that a preference phase learns from, and the log-probs that the frozen reference
// gives their responses.
import type { PreferencePhase } from '../config/phase.ts'
import { preferenceRefusal } from '../preferences/settings.ts'
import { type JudgedAnswers, takesAnswers } from './judged_answers.ts'
import { drawPairs, mismatched, type SequenceRow, scoresAlike } from './pairs.ts'
import { type PhasePairSource, phasePairs } from './phase_pairs.ts'
import { Preferences, type PreferencesState } from './preferences.ts'

/** The pairs of the present preference phase, of any kind of loss. */
export class PreferenceTraining {
  readonly #seed: number
  #preferences: Preferences | undefined
  #answers: JudgedAnswers | undefined
  /** The reference never changes in a phase, so its log-probs of a row are computed once; [R]. */
  #references = new WeakMap<SequenceRow, Float32Array>()
  #mismatched = new WeakMap<SequenceRow, Map<SequenceRow, SequenceRow>>()

  constructor(seed: number) {
    this.#seed = seed
  }

  /** The present phase's; undefined before the first. */
  get preferences(): Preferences | undefined {
    return this.#preferences
  }

  /** Single answers in place of pairs, where the rows of the present phase have such. */
  get answers(): JudgedAnswers | undefined {
    return this.#answers
  }

  /** Begins a phase: draws its pairs, or takes the answers of its rows. Throws NoPairsError where
   * there are none, RangeError for settings that contradict each other. */
  async begin(phase: PreferencePhase, source: PhasePairSource): Promise<void> {
    const { kind, pairs, preference } = phase
    const refusal = preferenceRefusal(preference)
    if (refusal) throw new RangeError(`preference.${refusal}`)
    this.takeAnswers(phase, source)
    if (this.#answers) return
    this.#preferences = new Preferences(pairs, this.#seed, await phasePairs(pairs, source, kind))
    this.#references = new WeakMap()
  }

  /** The answers of the rows, where the phase learns from such. They follow from the rows and the
   * phase, so a run that continues takes them again. */
  takeAnswers(phase: PreferencePhase, source: Pick<PhasePairSource, 'judged'>): void {
    const { count, held_out } = phase.pairs
    this.#answers = takesAnswers(phase) ? source.judged(count, held_out) : undefined
    if (!this.#answers) return
    this.#preferences = undefined
    this.#references = new WeakMap()
  }

  /** Whether the policy makes new pairs after `taken` steps of a phase. Not where no step has seen
   * the present ones: a trainer may be asked more than once before a step. */
  isDue({ refresh_steps }: PreferencePhase, taken: number): boolean {
    return !!refresh_steps && taken % refresh_steps === 0 && !!this.#preferences?.isUsed
  }

  /** The present policy makes `count` new pairs to train on. Where all its responses are ties, the
   * old ones stay. */
  async refresh(count: number, source: PhasePairSource): Promise<void> {
    const drawn = await drawPairs(source, count, scoresAlike)
    this.#preferences = this.#preferences?.refreshed(drawn)
    this.#references = new WeakMap()
  }

  /** Continues a phase that began in another trainer. */
  resume({ pairs }: PreferencePhase, state: PreferencesState): void {
    this.#answers = undefined
    this.#preferences = Preferences.resume(pairs, this.#seed, state)
    this.#references = new WeakMap()
  }

  /** A prompt with the response of another row, for KTO's KL. Neighbours of a file meet again, so
   * theirs are kept. */
  mismatched(prompt: SequenceRow, response: SequenceRow, promptLength: number): SequenceRow {
    const known = this.#mismatched.get(prompt) ?? new Map<SequenceRow, SequenceRow>()
    const row = known.get(response) ?? mismatched(prompt, response, promptLength)
    if (this.#answers) this.#mismatched.set(prompt, known.set(response, row))
    return row
  }

  /** The reference's log-probs of a row, where they were kept. */
  reference(row: SequenceRow): Float32Array | undefined {
    return this.#references.get(row)
  }

  keepReference(row: SequenceRow, logProbs: Float32Array): void {
    this.#references.set(row, logProbs)
  }
}
