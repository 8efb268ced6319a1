// Declares a preference loss. Each is declared in one file of losses/; losses.ts lists them. All
// are float64 on the CPU: a batch has a few numbers for each answer, and some losses compare all
// pairs of a batch.
import type { PreferenceNumberName, PreferenceValues } from './preference_numbers.ts'

/** One answer as a loss sees it: sums over its completion tokens, nats. */
export interface Answer {
  /** Under the policy. */
  readonly log_prob: number
  /** Under the reference; 0 where the loss has none. */
  readonly ref_log_prob: number
  /** What the loss compares: the log ratio of the two or what a divergence makes of it; without a
   * reference the policy's mean or sum. */
  readonly score: number
  /** Completion tokens. */
  readonly tokens: number
}

/** Two answers to one prompt. */
export interface Pair {
  readonly chosen: Answer
  readonly rejected: Answer
}

/** The loss of a pair, and its derivatives by the scores of both answers. */
export interface PairLoss {
  readonly loss: number
  readonly d_chosen: number
  readonly d_rejected: number
}

/** An answer that was judged alone. */
export interface JudgedAnswer extends Answer {
  readonly is_desirable: boolean
  /** The mean KL of mismatched pairs that rewards are compared with; a constant to the gradient. */
  readonly kl: number
}

/** The loss of an answer, and its derivative by the score. */
export interface AnswerLoss {
  readonly loss: number
  readonly d_score: number
}

/** Cross-entropy of the chosen answers beside a loss: the mean over all their tokens, of the
 * completion or of the whole sequence. */
export interface ChosenNll {
  readonly weight: number
  readonly over: 'completion' | 'sequence'
}

interface Declared<Name extends string> {
  readonly name: Name
  /** What forms call it. */
  readonly label: string
  /** One sentence: what it does that others do not. */
  readonly help: string
  /** The rule as text: r = log π − log π_ref of an answer, d = r_chosen − r_rejected, σ = logistic
   * function. */
  readonly formula: string
  /** Those that it reads. */
  readonly numbers: readonly PreferenceNumberName[]
  /** TRL's trainer, and what that calls it. */
  readonly trl: { readonly trainer: TrlTrainer; readonly loss_type?: string }
  nll?(k: PreferenceValues): ChosenNll
  /** What is wrong with its numbers; continues "expected". */
  contradiction?(
    k: PreferenceValues,
  ): { readonly at: PreferenceNumberName; readonly expected: string } | undefined
}

/** Learns from pairs of answers. */
export interface PairedLoss<Name extends string = string> extends Declared<Name> {
  readonly data: 'pairs'
  /** Whether scores are log ratios to the reference; else 'sum' or 'mean': of the policy's own
   * log-probs. */
  readonly score: 'ratio' | 'sum' | 'mean'
  /** Whether it looks at the scores alone, so that another divergence than reverse KL may make
   * them. */
  readonly takesDivergence?: true
  /** Whether the loss of a pair depends on the other pairs of its batch. */
  readonly comparesBatch?: true
  /** Whether it is about the difference of both scores alone, so that the reference can be left
   * out. */
  readonly mayBeReferenceFree?: true
  /** The losses of all pairs of a batch. */
  rule(pairs: readonly Pair[], k: PreferenceValues): readonly PairLoss[]
}

/** Learns from answers that are each desirable or not. */
export interface UnpairedLoss<Name extends string = string> extends Declared<Name> {
  readonly data: 'answers'
  /** Whether rewards are compared with the KL of mismatched pairs. */
  readonly hasKl: boolean
  rule(answer: JudgedAnswer, k: PreferenceValues): AnswerLoss
}

export type PreferenceLoss<Name extends string = string> = PairedLoss<Name> | UnpairedLoss<Name>
export type TrlTrainer = 'DPOTrainer' | 'CPOTrainer' | 'ORPOTrainer' | 'KTOTrainer'

/** Declares a loss of pairs and keeps its name. */
export const pairedLoss = <const Name extends string>(
  loss: Omit<PairedLoss<Name>, 'data'>,
): PairedLoss<Name> => ({ data: 'pairs', ...loss })

/** Declares a loss of single answers and keeps its name. */
export const unpairedLoss = <const Name extends string>(
  loss: Omit<UnpairedLoss<Name>, 'data'>,
): UnpairedLoss<Name> => ({ data: 'answers', ...loss })

/** A rule that looks at one pair at a time. */
export const eachPair =
  (rule: (pair: Pair, k: PreferenceValues) => PairLoss): PairedLoss['rule'] =>
  (pairs, k) =>
    pairs.map((pair) => rule(pair, k))

/** A rule of the margin d = score of chosen − score of rejected: its loss and its slope. */
export const ofMargin = (
  rule: (d: number, k: PreferenceValues) => { readonly loss: number; readonly slope: number },
): PairedLoss['rule'] =>
  eachPair(({ chosen, rejected }, k) => {
    const { loss, slope } = rule(chosen.score - rejected.score, k)
    return { loss, d_chosen: slope, d_rejected: -slope }
  })

/** The same of d = difference of the scores per token. */
export const ofTokenMargin = (
  rule: (d: number, k: PreferenceValues) => { readonly loss: number; readonly slope: number },
): PairedLoss['rule'] =>
  eachPair(({ chosen, rejected }, k) => {
    const [ofChosen, ofRejected] = [Math.max(1, chosen.tokens), Math.max(1, rejected.tokens)]
    const { loss, slope } = rule(chosen.score / ofChosen - rejected.score / ofRejected, k)
    return { loss, d_chosen: slope / ofChosen, d_rejected: -slope / ofRejected }
  })
