// Decides which rows are held out, by a seed and the prompt's own text, so the order of the file
// does not matter and no prompt is on both sides.
import { hash } from '../task/problems.ts'
import type { DataRow } from './rows/row.ts'

export interface SplitRows {
  readonly train: readonly DataRow[]
  readonly test: readonly DataRow[]
}

/** Of a file without one for validation, this share is held out where a person does not say how
 * much. */
const HELD_OUT_SHARE = 0.2
const MOST_HELD_OUT = 512

/** How many rows are held out of so many; 0 where there are too few. */
export const usualTestSize = (rows: number): number =>
  Math.min(MOST_HELD_OUT, Math.floor(rows * HELD_OUT_SHARE))

/** Holds out at most `testSize` rows. All rows of one prompt, and of one conversation, are on one
 * side, so there can be fewer where prompts occur several times. Rows keep the order of the file.
 * The same seed holds out the same prompts, also when other rows are added. */
export function splitRows(rows: readonly DataRow[], testSize: number, seed: number): SplitRows {
  const keyOf = ({ conversation, prompt }: DataRow) => conversation ?? prompt
  const count = new Map<string, number>()
  for (const row of rows) count.set(keyOf(row), (count.get(keyOf(row)) ?? 0) + 1)
  const order = [...count.keys()]
    .map((prompt) => ({ prompt, at: hash([seed >>> 0, ...textWords(prompt)]) }))
    .sort((a, b) => a.at - b.at || (a.prompt < b.prompt ? -1 : 1))
  const held = new Set<string>()
  let left = testSize
  for (const { prompt } of order) {
    const own = count.get(prompt) ?? 0
    // One prompt stays for training.
    if (own > left || held.size + 1 === order.length) continue
    held.add(prompt)
    left -= own
  }
  const train = rows.filter((row) => !held.has(keyOf(row)))
  // A later turn of one conversation may read like a prompt of another.
  const trained = new Set(train.map(({ prompt }) => prompt))
  return {
    train,
    test: rows.filter((row) => held.has(keyOf(row)) && !trained.has(row.prompt)),
  }
}

/** Single verdicts on the sides that the problems with the same prompts are on; of prompts without
 * a good answer, which are no problems, a share is held out too. */
export function splitVerdicts(
  verdicts: readonly DataRow[],
  problems: SplitRows,
  seed: number,
): SplitRows {
  const trained = new Set(problems.train.map(({ prompt }) => prompt))
  const held = new Set(problems.test.map(({ prompt }) => prompt))
  const others = verdicts.filter(({ prompt }) => !trained.has(prompt) && !held.has(prompt))
  for (const { prompt } of splitRows(others, usualTestSize(others.length), seed).test)
    held.add(prompt)
  return {
    train: verdicts.filter(({ prompt }) => !held.has(prompt)),
    test: verdicts.filter(({ prompt }) => held.has(prompt)),
  }
}

const textWords = (text: string): number[] =>
  Array.from(text, (character) => character.codePointAt(0) ?? 0)
