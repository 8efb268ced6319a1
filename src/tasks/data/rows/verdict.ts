// Reads whether an answer is good, in the spellings that files have.
import { type Cell, WrittenNumber } from '../table/table.ts'
import type { DataRow } from './row.ts'

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

// Each is written out: what counts a thing differs from language to language.
const goodText = (n: number) => `${n} good ${n === 1 ? 'answer' : 'answers'}`
const badText = (n: number) => `${n} bad ${n === 1 ? 'one' : 'ones'}`
const promptsText = (n: number) => `${n} ${n === 1 ? 'prompt' : 'prompts'}`
const pairsText = (n: number) => `${n} ${n === 1 ? 'pair' : 'pairs'}`

/** Rows of single verdicts by their prompts: each good answer with the bad answers to its prompt.
 * The sentences say what can be made of them. */
export function joinVerdicts(verdicts: readonly DataRow[]): {
  readonly rows: readonly DataRow[]
  readonly notes: readonly string[]
} {
  const good = verdicts.filter(({ rejected }) => !rejected)
  const bad = new Map<string, string[]>()
  for (const { prompt, rejected } of verdicts)
    if (rejected) bad.set(prompt, [...(bad.get(prompt) ?? []), ...rejected])
  const rows = good.map((row) => {
    const rejected = (bad.get(row.prompt) ?? []).filter((text) => text !== row.ground_truth)
    return rejected.length > 0 ? { ...row, rejected } : row
  })
  const prompts = new Set(verdicts.map(({ prompt }) => prompt))
  const both = new Set(rows.flatMap(({ rejected, prompt }) => (rejected ? [prompt] : [])))
  const pairs = rows.reduce((sum, { rejected }) => sum + (rejected?.length ?? 0), 0)
  return {
    rows,
    notes: [
      `${goodText(good.length)} and ${badText(verdicts.length - good.length)}: KTO learns from all of them; good answers can be imitated.`,
      `${both.size} of ${promptsText(prompts.size)} have both verdicts, which makes ${pairsText(pairs)} for a reward model.`,
    ],
  }
}
