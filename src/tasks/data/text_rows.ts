// Cuts text into rows to continue (packed rows): all of it in pieces of one length, so that a
// supervised phase learns every token but the first.
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import type { Prepared } from './plan.ts'
import { type DataRow, textOfTruth } from './rows/row.ts'
import { usualTestSize } from './split.ts'
import type { FoundBad } from './table/bad_rows.ts'
import { DataFileError } from './table/data_file.ts'

interface TextPlan {
  readonly tokenizer: Tokenizer
  /** Tokens of a row. */
  readonly length: number
  readonly test_size: number | null
}

/** Cuts texts, with an end of line between them, into rows of `length` tokens. A row's prompt is
 * the last token of the row before it, so nothing is learnt twice; the last row is shorter, and
 * ends with the end token. Held out is the end of the text, or a text of its own. */
export function textRows(
  rows: readonly DataRow[],
  valRows: readonly DataRow[] | undefined,
  { tokenizer, length, test_size }: TextPlan,
  bad: FoundBad,
): Prepared {
  const own = cut(rows, tokenizer, length)
  const count = test_size ?? Math.max(1, usualTestSize(own.length))
  const held = valRows && cut(valRows, tokenizer, length)
  const train = held ? own : own.slice(0, own.length - count)
  const test = held ?? own.slice(own.length - count)
  if (train.length === 0 || test.length === 0)
    throw new DataFileError(
      `expected text for two rows of ${length} tokens or more, found text for ${own.length}; choose fewer “Tokens of a row” (max_response_length)`,
    )
  return {
    train,
    test,
    tokenizer,
    answers: 'text',
    max_prompt_length: 1,
    max_response_length: length,
    found: {
      rows: train.length + test.length,
      duplicates: 0,
      ambiguous: 0,
      dropped: 0,
      shared: 0,
      bad,
      notes: [],
      prompt_lengths: [1],
      answer_lengths: [...train, ...test].map(({ ground_truth }) =>
        Math.min(length, tokenizer.encode(textOfTruth(ground_truth)).length + 1),
      ),
    },
  }
}

function cut(rows: readonly DataRow[], tokenizer: Tokenizer, length: number): DataRow[] {
  const ids = tokenizer.encode(rows.map(({ ground_truth }) => textOfTruth(ground_truth)).join('\n'))
  const pieces: DataRow[] = []
  for (let at = 0; at + 1 < ids.length; ) {
    const prompt = readBack(tokenizer, ids.slice(at, at + 1))
    // A part of a character is no prompt, and no row ends within a character or a word that would
    // be read in other tokens.
    let end = Math.min(at + 1 + length, ids.length)
    let truth = readBack(tokenizer, ids.slice(at + 1, end))
    while (truth === undefined && end > at + 2)
      truth = readBack(tokenizer, ids.slice(at + 1, --end))
    if (prompt === undefined || truth === undefined) {
      at++
      continue
    }
    pieces.push({ prompt, ground_truth: truth })
    at = end - 1
  }
  return pieces
}

/** The text of ids that is read as these ids again; undefined where none is. */
function readBack(tokenizer: Tokenizer, ids: readonly number[]): string | undefined {
  const text = tokenizer.decode(ids)
  const again = tokenizer.encode(text)
  return again.length === ids.length && again.every((id, i) => id === ids[i]) ? text : undefined
}
