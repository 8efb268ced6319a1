// Reads whether an answer is good, in the spellings that files have.
import { type Cell, WrittenNumber } from '../table.ts'
import type { PlacedRow } from './row.ts'

const GOOD = ['true', '1', 'yes', 'y', 'good', 'desirable', 'chosen', 'accepted', 'positive', '+1']
const BAD = ['false', '0', 'no', 'n', 'bad', 'undesirable', 'rejected', 'negative', '-1']

/** The spellings, for messages. */
export const VERDICT_WORDS = 'true or false, 1 or 0, good or bad'

/** Undefined for what says neither. */
export function readVerdict(cell: Cell | undefined): boolean | undefined {
  const text = cell instanceof WrittenNumber ? `${Number(cell.text)}` : `${cell}`
  const word = text.trim().toLowerCase()
  if (GOOD.includes(word)) return true
  return BAD.includes(word) ? false : undefined
}

const count = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`

/** Rows of single verdicts by their prompts: each good answer with the bad answers to its prompt. A
 * bad answer to a prompt without a good one is left out, and the sentences say so. */
export function joinVerdicts(rows: readonly PlacedRow[]): {
  readonly rows: readonly PlacedRow[]
  readonly notes: readonly string[]
} {
  const good = rows.filter(({ row }) => !row.rejected)
  const bad = new Map<string, string[]>()
  for (const { row } of rows)
    if (row.rejected) bad.set(row.prompt, [...(bad.get(row.prompt) ?? []), ...row.rejected])
  const joined = good.map(({ row, r }) => {
    const rejected = (bad.get(row.prompt) ?? []).filter((text) => text !== row.ground_truth)
    return { row: rejected.length > 0 ? { ...row, rejected } : row, r }
  })
  const prompts = new Set(rows.map(({ row }) => row.prompt))
  const withGood = new Set(good.map(({ row }) => row.prompt))
  const both = new Set(joined.flatMap(({ row }) => (row.rejected ? [row.prompt] : [])))
  const pairs = joined.reduce((sum, { row }) => sum + (row.rejected?.length ?? 0), 0)
  const lost = rows.filter(({ row }) => row.rejected && !withGood.has(row.prompt)).length
  return {
    rows: joined,
    notes: [
      `${both.size} of ${count(prompts.size, 'prompt')} have both verdicts, which makes ${count(pairs, 'pair')} for a reward model; good answers can be imitated.`,
      ...(lost > 0
        ? [`${count(lost, 'bad answer')} left out: no good answer to the same prompt is there.`]
        : []),
    ],
  }
}
