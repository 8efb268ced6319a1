// From tables to what an experiment trains on: rows, tokenizer, split, lengths, and what a person should know of them.
import type { Tokenizer } from '../task.ts'
import { BadRows, BadRowsError } from './bad_rows.ts'
import { DataFileError } from './data_file.ts'
import { dataTokenizer, type TokenizerSource } from './make_tokenizer.ts'
import { type DataRow, mapRows, usable } from './mapping.ts'
import type { DataPlan, NamedTable, Prepared } from './plan.ts'
import { type SplitRows, splitRows, usualTestSize } from './split.ts'
import { textRows } from './text_rows.ts'

/** Tokens of a row of text where a person does not say how many. */
const TEXT_LENGTH = 64
/** Fewer rows cannot be split. */
const FEWEST_ROWS = 5

/**
 * Rows, tokenizer and split of a plan. Throws DataFileError naming file, row and column where the tables are no such data, or hold characters that
 * the tokenizer lacks; BadRowsError where rows cannot be used and the plan does not leave them out.
 */
export async function prepareData(
  train: NamedTable,
  val: NamedTable | undefined,
  plan: DataPlan,
  source?: TokenizerSource,
): Promise<Prepared> {
  const bad = new BadRows()
  for (const file of [train, val]) if (file) bad.addAll(file.bad)
  const plain_rows = mapRows(train.table, plan, train.name, { onBadRow: bad.add })
  const plain_val_rows = val && mapRows(val.table, plan, val.name, { onBadRow: bad.add })
  const plain = usableOf([...plain_rows, ...(plain_val_rows ?? [])])
  refuseBad(bad, plain, plan)
  const texts = plain.flatMap(({ prompt, ground_truth }) => [prompt, ground_truth])
  const tokenizer = await dataTokenizer(
    plan,
    texts.concat(plan.prompt_key === '' ? '\n' : []),
    source,
  )
  const making: Making = { tokenizer, plan, bad, onProgress: source?.onProgress }
  const rows = rendered(plain_rows, train, making)
  const val_rows = plain_val_rows && val && rendered(plain_val_rows, val, making)
  if (plan.prompt_key === '') {
    refuseBad(bad, rows, plan)
    return textRows(
      usableOf(rows),
      val_rows && usableOf(val_rows),
      { tokenizer, length: plan.max_response_length || TEXT_LENGTH, test_size: plan.test_size },
      bad,
    )
  }
  const measured = measure(rows, train, making)
  const held = val && val_rows && measure(val_rows, val, making)
  refuseBad(bad, measured.kept, plan)
  const sides = held
    ? { train: measured.kept, test: held.kept }
    : ownSplit(measured.kept, train.name, plan)
  const found = [measured, ...(held ? [held] : [])]
  const all = found.flatMap((one) => one.all)
  const prompt_lengths = found.flatMap((one) => one.prompt_lengths)
  const answer_lengths = found.flatMap((one) => one.answer_lengths)
  return {
    ...sides,
    tokenizer,
    max_prompt_length: plan.max_prompt_length || largest(prompt_lengths),
    max_response_length: plan.max_response_length || largest(answer_lengths),
    found: {
      rows: all.length,
      ...repeated(all),
      dropped: all.length - sides.train.length - sides.test.length,
      shared: held ? sharedPrompts(sides) : 0,
      ...{ bad, prompt_lengths, answer_lengths },
    },
  }
}

/** What rows are made ready with. */
interface Making {
  readonly tokenizer: Tokenizer
  readonly plan: DataPlan
  readonly bad: BadRows
  readonly onProgress: ((share: number) => void) | undefined
}

type Rows = readonly (DataRow | undefined)[]

const usableOf = (rows: Rows): DataRow[] => rows.filter((row) => row !== undefined)

/** Throws BadRowsError where there are bad rows that the plan does not leave out, or no others. */
function refuseBad(bad: BadRows, rows: Rows, { skip_bad_rows }: DataPlan): void {
  if (bad.count > 0 && (!skip_bad_rows || rows.every((row) => !row))) throw new BadRowsError(bad)
}

/** Throws DataFileError for a row that writes a special token: what a person wrote would act as a mark of the conversation. */
function refuseSpecial(
  { prompt, ground_truth, messages }: DataRow,
  where: (key: string) => string,
  { tokenizer, plan: { prompt_key, answer_key } }: Making,
): void {
  const texts: [string, string][] = [
    [prompt_key, prompt],
    [answer_key, ground_truth],
  ]
  for (const { content } of messages ?? []) texts.push([prompt_key, content])
  for (const [key, text] of texts) {
    const special = tokenizer.specialIn(text)
    if (special !== undefined)
      throw new DataFileError(
        `${where(key)}: expected text without special tokens, found ${special}, which the tokenizer would read as its mark`,
      )
  }
}

const placeIn =
  ({ name, table }: NamedTable, r: number) =>
  (key: string) =>
    `${name}: ${table.placeOf(r)}, column ${key}`

/** Rows without special tokens, their messages as the tokenizer's chat template writes them; other prompts are read as they are. */
const rendered = (rows: Rows, file: NamedTable, making: Making): Rows =>
  rows.map((own, r) => {
    if (!own) return undefined
    return usable(() => {
      refuseSpecial(own, placeIn(file, r), making)
      const { renderChat } = making.tokenizer
      const { messages, ...row } = own
      return renderChat && messages
        ? { ...own, prompt: renderChat(messages, { add_generation_prompt: true }) }
        : row
    }, making.bad.add)
  })

const largest = (values: readonly number[]) => values.reduce((most, one) => Math.max(most, one), 1)

/** Rows between two words on how far it is. */
const SOME_ROWS = 1024

/** The rows that are short enough, all that can be read, and the lengths of these. */
function measure(rows: Rows, file: NamedTable, { tokenizer, plan, bad, onProgress }: Making) {
  const kept: DataRow[] = []
  const all: DataRow[] = []
  const prompt_lengths: number[] = []
  const answer_lengths: number[] = []
  rows.forEach((row, r) => {
    if (r % SOME_ROWS === 0) onProgress?.(r / rows.length)
    if (!row) return
    const where = placeIn(file, r)
    const length = (text: string, key: string) => {
      try {
        return tokenizer.encode(text).length
      } catch (error) {
        // Of the tokenizer, not of the row: the next row would take as long.
        if (error instanceof Error && error.name === 'TokenizerFileError') throw error
        const why = error instanceof Error ? error.message : `${error}`
        throw new DataFileError(`${where(key)}: ${why.slice(0, 300)}`)
      }
    }
    const lengths = usable(
      () => [length(row.prompt, plan.prompt_key), length(row.ground_truth, plan.answer_key) + 1],
      bad.add,
    )
    if (!lengths) return
    const [prompt, answer] = lengths
    all.push(row)
    prompt_lengths.push(prompt)
    answer_lengths.push(answer)
    const too_long = [
      [plan.prompt_key, prompt, plan.max_prompt_length],
      [plan.answer_key, answer, plan.max_response_length],
    ] as const
    const over = too_long.find(([, tokens, most]) => most > 0 && tokens > most)
    if (!over) kept.push(row)
    else if (!plan.filter_overlong_prompts)
      throw new DataFileError(
        `${where(over[0])}: expected at most ${over[2]} tokens, found ${over[1]}; drop such rows (filter_overlong_prompts) or allow more`,
      )
  })
  return { kept, all, prompt_lengths, answer_lengths }
}

function ownSplit(rows: readonly DataRow[], file: string, plan: DataPlan): SplitRows {
  const size = plan.test_size < 0 ? usualTestSize(rows.length) : plan.test_size
  const sides = splitRows(rows, size, plan.split_seed)
  if (rows.length < FEWEST_ROWS || sides.train.length === 0 || sides.test.length === 0)
    throw new DataFileError(
      `${file}: expected ${FEWEST_ROWS} rows or more with different prompts, of which some are held out, found ${rows.length} that are short enough`,
    )
  return sides
}

function repeated(rows: readonly DataRow[]): { duplicates: number; ambiguous: number } {
  const answers = new Map<string, Set<string>>()
  let duplicates = 0
  for (const { prompt, ground_truth } of rows) {
    const own = answers.get(prompt) ?? new Set()
    answers.set(prompt, own)
    if (own.has(ground_truth)) duplicates++
    own.add(ground_truth)
  }
  return { duplicates, ambiguous: [...answers.values()].filter(({ size }) => size > 1).length }
}

function sharedPrompts({ train, test }: SplitRows): number {
  const trained = new Set(train.map(({ prompt }) => prompt))
  return new Set(test.flatMap(({ prompt }) => (trained.has(prompt) ? [prompt] : []))).size
}
