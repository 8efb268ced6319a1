// A data file, what is wrong with one, and how large one may be. The page loads this first, so it stays small.

/** A file as it was dropped or named. */
export interface DataFile {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A data file that cannot be read or used; the message names the file, and row and column where there are any. */
export class DataFileError extends Error {
  override readonly name = 'DataFileError'
}

export const MOST_ROWS = 1_000_000
export const MOST_COLUMNS = 256

/** verl's own columns, as a Mapping. */
export const VERL_MAPPING = {
  prompt_key: 'prompt',
  answer_key: 'reward_model.ground_truth',
  reward_fn_key: 'data_source',
} as const
