// Keeps the preferences that a reward model learns: the task's, a person's verdicts as they come,
// and what training takes of them.

import { philox4x32, uniform24 } from '../../kernels/sampling/philox.ts'
import type { Pairs, Verdict } from '../config/phase.ts'
import { shuffledOrder } from '../math/shuffle.ts'
import { type Candidate, heldOutPrompts, judgedScore, type ResponsePair } from './pairs.ts'

/** One pair with its verdict. */
export interface Preference {
  readonly prompt: string
  readonly chosen: Candidate
  readonly rejected: Candidate
}

/** A pair as a person is asked about it. */
export interface AskedPair {
  /** Place in line, from 0. */
  readonly id: number
  readonly prompt: string
  readonly response_a: string
  readonly response_b: string
}

/** The preferences of a phase as plain data. */
export interface PreferencesState {
  readonly judged: readonly ResponsePair[]
  readonly asked: readonly ResponsePair[]
  readonly ties: number
  /** Prompts of judged pairs that are held out, where new pairs have come since; absent: the last
   * ones. */
  readonly held_out?: readonly string[] | undefined
  /** What is in force of each asked pair, from the first on. */
  readonly decided: readonly ('a' | 'b' | 'skip')[]
  readonly log: readonly Verdict[]
  /** Recorded verdicts that are in force. */
  readonly replayed: number
  /** What is left of this pass: places in `judged`, and after them in `asked`. */
  readonly queue: readonly number[]
  readonly passes: number
}

/** One in this many prompts of a person's preferences is held out. */
const HELD_OUT_EVERY = 4
/** Keeps the order of pairs apart from sampling (train/responses) under the same generator and
 * seed. */
const SHUFFLE_STREAM = 0x70616972
/** Which verdicts of the judge are turned round. */
const NOISE_STREAM = 0x6e6f6973

const prefer = ({ prompt, a, b }: ResponsePair, choice: 'a' | 'b'): Preference =>
  choice === 'a' ? { prompt, chosen: a, rejected: b } : { prompt, chosen: b, rejected: a }

/** The verdict of the task or the reward model: the higher score is preferred. */
const judge = (pair: ResponsePair): Preference =>
  prefer(pair, judgedScore(pair.a) > judgedScore(pair.b) ? 'a' : 'b')

/** All preferences of one reward_model phase. Pairs are asked in order, so a verdict is of the pair
 * that is next in line. */
export class Preferences {
  readonly config: Pairs
  /** Prompts without a pair, because their responses were always a tie. */
  readonly ties: number
  readonly #seed: number
  readonly #drawn: readonly ResponsePair[]
  readonly #judged: readonly Preference[]
  /** Prompts of the task's pairs that are held out. */
  readonly #judgedHeldOut: ReadonlySet<string>
  readonly #asked: readonly ResponsePair[]
  readonly #isRefreshed: boolean
  /** Verdict of each asked pair, from the first on; undefined = skipped. */
  #decided: (Preference | undefined)[] = []
  #log: Verdict[] = []
  /** Recorded verdicts that are in force. */
  #replayed = 0
  /** What is left of this pass over the training pairs. */
  #queue: Preference[] = []
  #passes = 0

  constructor(
    config: Pairs,
    seed: number,
    drawn: {
      readonly judged: readonly ResponsePair[]
      readonly asked: readonly ResponsePair[]
      readonly ties: number
      readonly held_out?: readonly string[] | undefined
    },
  ) {
    this.config = config
    this.#seed = seed
    this.#drawn = drawn.judged
    this.#asked = drawn.asked
    this.#isRefreshed = drawn.held_out !== undefined
    this.ties = drawn.ties
    // Where there are fewer pairs than were asked for, as large a share of them.
    const { count, held_out } = config
    const share = Math.floor((drawn.judged.length * held_out) / (count + held_out))
    this.#judgedHeldOut = drawn.held_out
      ? new Set(drawn.held_out)
      : heldOutPrompts(drawn.judged, share)
    this.#judged = drawn.judged.map((pair, place) => this.#noisy(judge(pair), place))
  }

  /** The verdict of the judge, turned round in a share of the pairs that are trained on. */
  #noisy(verdict: Preference, place: number): Preference {
    const { source, noise = 0 } = this.config
    if (source === 'file' || noise === 0 || this.#judgedHeldOut.has(verdict.prompt)) return verdict
    const [bits] = philox4x32([place, 0, 0, 2], [this.#seed, NOISE_STREAM])
    if (uniform24(bits) >= noise) return verdict
    return { ...verdict, chosen: verdict.rejected, rejected: verdict.chosen }
  }

  /** The preferences of a phase that has begun elsewhere. */
  static resume(config: Pairs, seed: number, state: PreferencesState): Preferences {
    const preferences = new Preferences(config, seed, state)
    const { decided, log, replayed, queue, passes } = state
    preferences.#decided = decided.map((choice, i) =>
      choice === 'skip' ? undefined : prefer(state.asked[i], choice),
    )
    preferences.#log = [...log]
    preferences.#replayed = replayed
    const all = [...preferences.#judged, ...preferences.#decided]
    preferences.#queue = queue.map((place) => all[place]).filter((next) => next !== undefined)
    preferences.#passes = passes
    return preferences
  }

  /** The preferences of the same phase with other pairs to train on; those of held-out prompts
   * stay. */
  refreshed(drawn: {
    readonly pairs: readonly ResponsePair[]
    readonly ties: number
  }): Preferences {
    const held_out = this.#judgedHeldOut
    const isHeldOut = ({ prompt }: ResponsePair) => held_out.has(prompt)
    const fresh = drawn.pairs.filter((pair) => !isHeldOut(pair))
    const judged = fresh.length === 0 ? this.#drawn : [...fresh, ...this.#drawn.filter(isHeldOut)]
    const rest = { asked: [], ties: drawn.ties, held_out: [...held_out] }
    return new Preferences(this.config, this.#seed, { judged, ...rest })
  }

  /** Whether a step has taken some of them. */
  get isUsed(): boolean {
    return this.#passes > 0
  }

  exportState(): PreferencesState {
    const all = [...this.#judged, ...this.#decided]
    return {
      judged: this.#drawn,
      asked: this.#asked,
      ties: this.ties,
      ...(this.#isRefreshed && { held_out: [...this.#judgedHeldOut] }),
      decided: this.#decided.map((preference, i) => {
        if (!preference) return 'skip'
        return preference.chosen === this.#asked[i].a ? 'a' : 'b'
      }),
      log: [...this.#log],
      replayed: this.#replayed,
      // What was taken back never comes up again.
      queue: this.#queue.map((next) => all.indexOf(next)).filter((place) => place >= 0),
      passes: this.#passes,
    }
  }

  /** Whether the verdicts come from the experiment, so that no person is asked. */
  get isRecorded(): boolean {
    return this.config.verdicts.length > 0
  }

  /** What a person preferred, skipped pairs left out. */
  get #given(): readonly Preference[] {
    return this.#decided.filter((preference) => preference !== undefined)
  }

  /** Verdicts of a person that say something. */
  get given(): number {
    return this.#given.length
  }

  /** What a person said, in order. */
  get log(): readonly Verdict[] {
    return this.#log
  }

  /** Whether a person said something after `step` steps of the phase, which no step has seen
   * yet. */
  hasNews(step: number): boolean {
    return this.#log.some((verdict) => verdict.step === step)
  }

  /** The pairs that wait for a person. */
  get pending(): readonly AskedPair[] {
    if (this.isRecorded) return []
    const next = this.#decided.length
    return this.#asked.slice(next).map(({ prompt, a, b }, i) => ({
      id: next + i,
      prompt,
      response_a: a.text,
      response_b: b.text,
    }))
  }

  /** What is trained on: no pair with a held-out prompt. */
  get training(): readonly Preference[] {
    const held_out = this.#heldOutPrompts
    const isTrained = ({ prompt }: Preference) => !held_out.has(prompt)
    return [
      ...this.#judged.filter(isTrained).slice(0, this.config.count),
      ...this.#given.filter(isTrained),
    ]
  }

  /** What accuracy is measured on: pairs with held-out prompts, a person's first; a prompt may have
   * several. */
  get held_out(): readonly Preference[] {
    const held_out = this.#heldOutPrompts
    return [...this.#given, ...this.#judged]
      .filter(({ prompt }) => held_out.has(prompt))
      .slice(0, this.config.held_out)
  }

  /** Of the task's pairs the last prompts; where there are none, every fourth prompt that a person
   * said something of. */
  get #heldOutPrompts(): ReadonlySet<string> {
    const { source, held_out } = this.config
    if (source !== 'human') return this.#judgedHeldOut
    const prompts = [...new Set(this.#given.map(({ prompt }) => prompt))]
    const turns = prompts.filter((_, i) => i % HELD_OUT_EVERY === HELD_OUT_EVERY - 1)
    return new Set(turns.slice(0, held_out))
  }

  /** Whether there is enough to train on after `step` steps of the phase. Puts the verdicts
   * recorded until then in force. */
  isReady(step: number): boolean {
    this.#replay(step)
    if (this.training.length === 0) return false
    const { source, min_pairs } = this.config
    if (source !== 'human' || this.isRecorded) return true
    return this.given >= min_pairs || this.pending.length === 0
  }

  #replay(step: number): void {
    const { verdicts } = this.config
    for (; this.#replayed < verdicts.length; this.#replayed++) {
      const verdict = verdicts[this.#replayed]
      if (verdict.step > step) return
      if (this.#apply(verdict)) this.#log.push(verdict)
    }
  }

  #apply({ choice }: Verdict): boolean {
    if (choice === 'undo') {
      const hasOne = this.#decided.length > 0
      this.#decided.pop()
      return hasOne
    }
    const pair = this.#asked[this.#decided.length]
    if (!pair) return false
    this.#decided.push(choice === 'skip' ? undefined : prefer(pair, choice))
    return true
  }

  /** A person's verdict on the pair `id`, after `step` steps of the phase. False for a pair that is
   * not the next in line. */
  decide(id: number, choice: 'a' | 'b' | 'skip', step: number): boolean {
    if (this.isRecorded || id !== this.#decided.length) return false
    const verdict = { choice, step }
    if (!this.#apply(verdict)) return false
    this.#log.push(verdict)
    return true
  }

  /** Takes the last verdict back. One that no step was trained on yet leaves no trace in the
   * log. */
  undo(step: number): boolean {
    const verdict = { choice: 'undo', step } as const
    if (this.isRecorded || !this.#apply(verdict)) return false
    const last = this.#log.at(-1)
    if (last?.step === step && last.choice !== 'undo') this.#log.pop()
    else this.#log.push(verdict)
    return true
  }

  /** The next `count` training pairs: passes over all of them in an order drawn from the seed; a
   * set smaller than a batch is gone through more than once. New pairs join the next pass,
   * withdrawn ones leave at once. Throws RangeError without pairs. */
  nextBatch(count: number): Preference[] {
    const training = this.training
    if (training.length === 0) throw new RangeError('preferences: expected a pair to train on')
    const batch: Preference[] = []
    while (batch.length < count) {
      if (this.#queue.length === 0) this.#queue = this.#shuffled(training)
      const next = this.#queue.pop()
      if (next && training.includes(next)) batch.push(next)
    }
    return batch
  }

  /** In an order drawn from seed and pass. */
  #shuffled(pairs: readonly Preference[]): Preference[] {
    const key = [this.#seed, SHUFFLE_STREAM] as const
    return shuffledOrder(pairs.length, key, [this.#passes++, 0]).map((i) => pairs[i])
  }
}
