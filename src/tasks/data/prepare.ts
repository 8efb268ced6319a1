// From tables to what an experiment trains on: rows, tokenizer, split, lengths, and what a person should know of them.
import type { Tokenizer } from '../task.ts'
import { DataFileError } from './data_file.ts'
import { dataTokenizer, type TokenizerSource } from './make_tokenizer.ts'
import { type DataRow, mapRows } from './mapping.ts'
import type { DataPlan, NamedTable, Prepared } from './plan.ts'
import { type SplitRows, splitRows, usualTestSize } from './split.ts'
import { textRows } from './text_rows.ts'

/** Tokens of a row of text where a person does not say how many. */
const TEXT_LENGTH = 64
/** Fewer rows cannot be split. */
const FEWEST_ROWS = 5

/** Throws DataFileError naming file, row and column where the tables are no such data, or hold characters that the tokenizer lacks. */
export async function prepareData(
  train: NamedTable,
  val: NamedTable | undefined,
  plan: DataPlan,
  source?: TokenizerSource,
): Promise<Prepared> {
  const plain_rows = mapRows(train.table, plan, train.name)
  const plain_val_rows = val && mapRows(val.table, plan, val.name)
  const plain = [...plain_rows, ...(plain_val_rows ?? [])]
  const texts = plain.flatMap(({ prompt, ground_truth }) => [prompt, ground_truth])
  const tokenizer = await dataTokenizer(
    plan,
    texts.concat(plan.prompt_key === '' ? '\n' : []),
    source,
  )
  refuseSpecial(plain_rows, train, tokenizer, plan)
  if (val && plain_val_rows) refuseSpecial(plain_val_rows, val, tokenizer, plan)
  const rows = rendered(plain_rows, tokenizer)
  const val_rows = plain_val_rows && rendered(plain_val_rows, tokenizer)
  const all = [...rows, ...(val_rows ?? [])]
  if (plan.prompt_key === '')
    return textRows(
      rows,
      val_rows,
      tokenizer,
      plan.max_response_length || TEXT_LENGTH,
      plan.test_size,
    )
  const measured = measure(rows, train, tokenizer, plan)
  const held = val && val_rows && measure(val_rows, val, tokenizer, plan)
  const sides = held
    ? { train: measured.kept, test: held.kept }
    : ownSplit(measured.kept, train.name, plan)
  const found = [measured, ...(held ? [held] : [])]
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
      ...{ prompt_lengths, answer_lengths },
    },
  }
}

/** Throws DataFileError for the first row that writes a special token: what a person wrote would act as a mark of the conversation. */
function refuseSpecial(
  rows: readonly DataRow[],
  { name, table }: NamedTable,
  tokenizer: Tokenizer,
  { prompt_key, answer_key }: DataPlan,
): void {
  rows.forEach(({ prompt, ground_truth, messages }, r) => {
    const texts: [string, string][] = [
      [prompt_key, prompt],
      [answer_key, ground_truth],
    ]
    for (const { content } of messages ?? []) texts.push([prompt_key, content])
    for (const [key, text] of texts) {
      const special = tokenizer.specialIn(text)
      if (special !== undefined)
        throw new DataFileError(
          `${name}: ${table.placeOf(r)}, column ${key}: expected text without special tokens, found ${special}, which the tokenizer would read as its mark`,
        )
    }
  })
}

/** Prompts that are messages, as the tokenizer's chat template writes them; other prompts are read as they are. */
const rendered = (rows: readonly DataRow[], { renderChat }: Tokenizer): readonly DataRow[] =>
  rows.map(({ messages, ...row }) =>
    renderChat && messages
      ? { ...row, prompt: renderChat(messages, { add_generation_prompt: true }) }
      : row,
  )

const largest = (values: readonly number[]) => values.reduce((most, one) => Math.max(most, one), 1)

/** The rows that are short enough, and the lengths of all. */
function measure(rows: readonly DataRow[], file: NamedTable, tokenizer: Tokenizer, plan: DataPlan) {
  const kept: DataRow[] = []
  const prompt_lengths: number[] = []
  const answer_lengths: number[] = []
  rows.forEach((row, r) => {
    const where = (key: string) => `${file.name}: ${file.table.placeOf(r)}, column ${key}`
    const length = (text: string, key: string) => {
      try {
        return tokenizer.encode(text).length
      } catch (error) {
        const why = error instanceof Error ? error.message : `${error}`
        throw new DataFileError(`${where(key)}: ${why.slice(0, 300)}`)
      }
    }
    const prompt = length(row.prompt, plan.prompt_key)
    const answer = length(row.ground_truth, plan.answer_key) + 1
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
  return { kept, prompt_lengths, answer_lengths }
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
