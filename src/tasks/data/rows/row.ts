// Describes one row of a data set.

import type { Json } from '../../task/json.ts'
import type { Mapping } from '../table/data_file.ts'

/** One problem of a data set. */
export interface DataRow {
  /** Of several messages the contents, one after the other: what a chat template without marks
   * makes of them. */
  readonly prompt: string
  /** The right answer: a text, or the object or list of the file; '' where there is none. */
  readonly ground_truth: Json
  /** The messages, where the prompt is messages: for tokenizers with a chat template. */
  readonly messages?: readonly { readonly role: string; readonly content: string }[]
  /** Worse answers to the prompt, where the file has them. */
  readonly rejected?: readonly string[]
  /** The prompt that a conversation begins with, where several answers of it are rows: they stay on
   * one side of the split. */
  readonly conversation?: string
  /** What reward functions are told; absent where the file does not say it. */
  readonly data_source?: string
  readonly extra_info?: Readonly<Record<string, unknown>>
  /** All columns of the row of the file by their names, for reward functions that take them so. */
  readonly columns?: Readonly<Record<string, Json>>
}

/** A row and its place in the table of its file. */
export interface PlacedRow {
  readonly row: DataRow
  readonly r: number
}

/** What the right answers of a data set are. */
export const ANSWER_TYPES = {
  text: 'texts',
  json: 'objects or lists',
} as const
export type AnswerType = keyof typeof ANSWER_TYPES

/** The type of the answers of some rows; text where one of them is not JSON, null where there are
 * prompts alone. */
export function answerType(
  { answer_key, row_format }: Mapping,
  rows: readonly DataRow[],
): AnswerType | null {
  if (row_format !== 'answers') return 'text'
  if (answer_key === null) return null
  return rows.some(({ ground_truth }) => typeof ground_truth === 'object') ? 'json' : 'text'
}

/** A right answer as text: an object or a list as its JSON. */
export const textOfTruth = (truth: Json): string =>
  typeof truth === 'string' ? truth : JSON.stringify(truth)
