// Declares a reward: a rule that gives one response a number. Rules are pure: the same response
// gets the same number, on its own or in a batch.

/** One response as verl hands it to `compute_score`. */
export interface Response {
  /** Where the problem comes from; the task's id where its rows say nothing. */
  readonly data_source: string
  /** What the model wrote, without the end token. */
  readonly solution_str: string
  /** A text, or whatever JSON the row has: a program gets it as it is, every other reward needs a
   * text. */
  readonly ground_truth: unknown
  /** What else the row holds, with `prompt`, the text that was answered, and in a run verl's
   * `num_turns`. */
  readonly extra_info: Readonly<Record<string, unknown>> & { readonly prompt: string }
  /** What TRL hands to reward functions beside these: the ids of the response with its end
   * token, */
  readonly completion_ids?: readonly number[]
  /** the columns of the row by their names; none for a generated problem, */
  readonly columns?: Readonly<Record<string, unknown>>
  /** and the prompt as a conversation, where the row has one. */
  readonly messages?: readonly object[]
}

/** A response whose right answer is a text. */
export type TextResponse = Omit<Response, 'ground_truth'> & { readonly ground_truth: string }

/** A setting of a reward: a number, a word of a few, a switch or a text. */
export type RewardParam = {
  readonly name: string
  readonly label: string
  readonly help: string
} & (
  | {
      readonly kind: 'number'
      readonly default: number
      readonly min: number
      readonly max: number
      /** A whole step takes whole numbers only. */
      readonly step: number
      readonly unit: string
    }
  | { readonly kind: 'select'; readonly default: string; readonly options: readonly string[] }
  | { readonly kind: 'boolean'; readonly default: boolean }
  | { readonly kind: 'text'; readonly default: string; readonly max: number }
)

export type ParamValue = number | string | boolean

/** The settings of a reward with every default filled in. Names are those of its declaration. */
export type Params = Readonly<Record<string, ParamValue>>

/** What a rule says of a response, in float64. 1 is right or as good as can be, 0 is worth
 * nothing. */
export type Score = (response: TextResponse) => number

/** A kind of reward: what the list shows, and what makes its rule. */
export interface RewardKind {
  readonly id: string
  readonly label: string
  /** One sentence. */
  readonly help: string
  readonly params: readonly RewardParam[]
  /** Whether a score of 1 says that a response is right, which is what accuracy counts. Shaping
   * says how it is written. */
  readonly is_verifier: boolean
  /** The rule. Throws RangeError for a text that it cannot use, such as a pattern, naming what is
   * wrong with it. */
  create(params: Params): Score
}
