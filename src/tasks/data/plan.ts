// Declares the choices about a data set, and what comes of them.
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import type { DataTokenizer } from './data_tokenizer.ts'
import type { AnswerType } from './rows/row.ts'
import type { SplitRows } from './split.ts'
import type { FoundBad } from './table/bad_rows.ts'
import { type Mapping, NO_COLUMNS } from './table/data_file.ts'

/** What is decided about a data set. Lengths are in tokens. */
export interface DataPlan extends Mapping {
  readonly tokenizer: DataTokenizer
  /** Tokens of a byte-pair encoding, null = the usual number; of other tokenizers, as many as they
   * have. */
  readonly vocab_size: number | null
  /** null = as long as the longest; of text, a row of the usual length. */
  readonly max_prompt_length: number | null
  /** With the end token; null = as long as the longest. */
  readonly max_response_length: number | null
  /** Rows that are longer are dropped; without it they are refused. verl's name. */
  readonly filter_overlong_prompts: boolean
  /** Rows that cannot be used are left out; without it the file is refused for the first one. */
  readonly skip_bad_rows: boolean
  /** Rows to hold out; null = the usual share. */
  readonly test_size: number | null
  readonly split_seed: number
}

export interface Prepared extends SplitRows {
  /** Single verdicts on answers, in the order of the file; only of such rows. */
  readonly verdicts?: SplitRows
  readonly tokenizer: Tokenizer
  readonly answers: AnswerType | null
  /** Of the rows that are kept, or as the plan says. */
  readonly max_prompt_length: number
  readonly max_response_length: number
  readonly found: Found
}

/** What was found in the rows. */
export interface Found {
  readonly rows: number
  /** Rows whose prompt and answer occurred before. */
  readonly duplicates: number
  /** Prompts with several answers; each of them counts as right. */
  readonly ambiguous: number
  /** Rows that were too long. */
  readonly dropped: number
  /** Rows that were left out because they cannot be used; they are not among `rows`. */
  readonly bad: FoundBad
  /** Held-out prompts that training has too; only where held-out rows have a file of their own. */
  readonly shared: number
  /** Columns that are not used, and what else of the file is left out, in sentences. */
  readonly notes: readonly string[]
  /** Tokens of every prompt and of every answer with its end token, before any row was dropped. */
  readonly prompt_lengths: readonly number[]
  readonly answer_lengths: readonly number[]
}

/** What is decided where a person decides nothing: all rows, as long as they are. */
export const USUAL_PLAN: DataPlan = {
  ...NO_COLUMNS,
  tokenizer: 'characters',
  vocab_size: null,
  max_prompt_length: null,
  max_response_length: null,
  filter_overlong_prompts: true,
  skip_bad_rows: false,
  test_size: null,
  split_seed: 0,
}
