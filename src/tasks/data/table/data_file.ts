// Describes a data file, what is wrong with one, and how large one may be. The page loads this
// first, so it stays small.

/** A file as it was dropped or named. */
export interface DataFile {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The last part of a file's name, in small letters; without a dot all of it. */
export const extensionOf = (name: string): string => name.toLowerCase().replace(/^.*\./s, '')

/** A data file that cannot be read or used; the message names the file, and row and column where
 * there are any. */
export class DataFileError extends Error {
  override readonly name = 'DataFileError'
}

export const MOST_ROWS = 1_000_000
export const MOST_COLUMNS = 256

/** What a row can be. */
export const ROW_FORMATS = {
  answers: 'a prompt and its answer, or text',
  conversations: 'a conversation',
  pairs: 'a better and a worse answer',
  verdicts: 'an answer that is good or bad',
} as const
export type RowFormat = keyof typeof ROW_FORMATS

/** Which columns are taken. A key is a column's name, or names with dots for what lies inside a
 * cell, e.g. reward_model.ground_truth; null = no such column. */
export interface Mapping {
  readonly row_format: RowFormat
  /** verl's data.prompt_key: a text, or messages {role, content}. Of conversations their column.
   * null = there are no prompts: the rows are text to continue, or pairs that begin alike. */
  readonly prompt_key: string | null
  /** What the prompt is about, such as Alpaca's `input`. */
  readonly input_key: string | null
  /** How both become a prompt, on one line: `\n` is an end of line. What stands between
   * {instruction} and {input} is left out with an empty input. */
  readonly prompt_template: string
  /** What the system says before the prompt. */
  readonly system_key: string | null
  /** The right answer; without prompts, the text; null = there is none: prompts alone, or what
   * another key says. */
  readonly answer_key: string | null
  /** Of conversations: every answer is learnt, not only the last. */
  readonly every_turn: boolean
  /** TRL's names of the better and the worse answer. */
  readonly chosen_key: string | null
  readonly rejected_key: string | null
  /** Whether an answer is good. */
  readonly label_key: string | null
  /** verl's data.reward_fn_key: where a problem comes from, for reward functions. */
  readonly reward_fn_key: string | null
}

/** A Mapping that takes no column. */
export const NO_COLUMNS: Mapping = {
  row_format: 'answers',
  prompt_key: null,
  input_key: null,
  prompt_template: '{instruction}\\n{input}',
  system_key: null,
  answer_key: null,
  every_turn: false,
  chosen_key: null,
  rejected_key: null,
  label_key: null,
  reward_fn_key: null,
}

/** verl's own columns. */
export const VERL_MAPPING: Mapping = {
  ...NO_COLUMNS,
  prompt_key: 'prompt',
  answer_key: 'reward_model.ground_truth',
  reward_fn_key: 'data_source',
}
