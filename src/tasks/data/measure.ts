// Measures rows as the tokenizer reads them: renders them, and checks them for what it would
// misread.
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import type { DataPlan } from './plan.ts'
import { usable } from './rows/mapping.ts'
import type { DataRow, PlacedRow } from './rows/row.ts'
import { type BadRows, shownTexts } from './table/bad_rows.ts'
import { DataFileError } from './table/data_file.ts'
import type { NamedTable } from './table/named_table.ts'

/** What rows are made ready with. */
export interface Making {
  readonly tokenizer: Tokenizer
  readonly plan: DataPlan
  readonly bad: BadRows
  readonly onProgress: ((share: number) => void) | undefined
}

type Key = string | null
type Texts = readonly (readonly [key: Key, text: string])[]

/** The texts of a row with the keys of their columns, the prompt first. No model reads an answer
 * that is an object. */
function textsOf({ prompt, ground_truth, rejected = [] }: DataRow, plan: DataPlan): Texts {
  const own = plan.row_format === 'pairs' ? plan.chosen_key : (plan.answer_key ?? plan.prompt_key)
  const worse = plan.row_format === 'pairs' ? plan.rejected_key : own
  const texts: (readonly [key: Key, text: string])[] = [[plan.prompt_key ?? own, prompt]]
  if (typeof ground_truth === 'string') texts.push([own, ground_truth])
  for (const text of rejected) texts.push([worse, text])
  return texts
}

/** Throws DataFileError for a row that writes a special token: what a person wrote would act as a
 * mark of the conversation. */
function refuseSpecial(row: DataRow, where: (key: Key) => string, { tokenizer, plan }: Making) {
  const said = (row.messages ?? []).map(({ content }) => [plan.prompt_key, content] as const)
  for (const [key, text] of [...textsOf(row, plan), ...said]) {
    const special = tokenizer.specialIn(text)
    if (special !== undefined)
      throw new DataFileError(
        `${where(key)}: expected text without special tokens, found ${special}, which the tokenizer would read as its mark`,
      )
  }
}

const placeIn =
  ({ name, table }: NamedTable, r: number) =>
  (key: Key) =>
    `${name}: ${table.placeOf(r)}, column ${key}`

/** Rows without special tokens, their messages as the tokenizer's chat template writes them; other
 * prompts are read as they are. */
export const rendered = (
  rows: readonly PlacedRow[],
  file: NamedTable,
  making: Making,
): readonly PlacedRow[] =>
  rows.flatMap(({ row: own, r }) => {
    const row = usable(() => {
      refuseSpecial(own, placeIn(file, r), making)
      const { renderChat } = making.tokenizer
      const { messages, ...plain } = own
      return renderChat && messages
        ? { ...own, prompt: renderChat(messages, { add_generation_prompt: true }) }
        : plain
    }, making.bad.add)
    return row ? [{ row, r }] : []
  })

/** Rows between two words on how far it is. */
const SOME_ROWS = 1024

export interface Measured {
  /** The rows that are short enough. */
  readonly kept: readonly DataRow[]
  /** All that can be read, and their lengths in tokens, the end token of an answer included. */
  readonly all: readonly DataRow[]
  readonly prompt_lengths: readonly number[]
  readonly answer_lengths: readonly number[]
}

/** Rows that the tokenizer can read, and their lengths. What holds characters that it lacks is a
 * bad row. */
export function measure(
  rows: readonly PlacedRow[],
  file: NamedTable,
  { tokenizer, plan, bad, onProgress }: Making,
): Measured {
  const kept: DataRow[] = []
  const all: DataRow[] = []
  const prompt_lengths: number[] = []
  const answer_lengths: number[] = []
  rows.forEach(({ row, r }, i) => {
    if (i % SOME_ROWS === 0) onProgress?.(i / rows.length)
    const where = placeIn(file, r)
    const texts = textsOf(row, plan)
    const lacking = lackingIn(writtenTexts(row, texts), tokenizer)
    if (lacking) {
      bad.lacks(lacking.unknown)
      bad.add(`${where(lacking.key)}: the vocabulary has no ${shownTexts(lacking.unknown)}`)
      return
    }
    const length = ([key, text]: readonly [Key, string]) => {
      try {
        return tokenizer.encode(text).length
      } catch (error) {
        const why = error instanceof Error ? error.message : `${error}`
        throw new DataFileError(`${where(key)}: ${why.slice(0, 300)}`)
      }
    }
    const lengths = usable(() => texts.map(length), bad.add)
    if (!lengths) return
    const [prompt, ...answers] = lengths
    const answer = Math.max(0, ...answers) + 1
    all.push(row)
    prompt_lengths.push(prompt)
    answer_lengths.push(answer)
    const tooLong = [
      [texts[0][0], prompt, plan.max_prompt_length],
      [texts.at(-1)?.[0] ?? null, answer, plan.max_response_length],
    ] as const
    const over = tooLong.find(([, tokens, most]) => most !== null && tokens > most)
    if (!over) kept.push(row)
    else if (!plan.filter_overlong_prompts)
      throw new DataFileError(
        `${where(over[0])}: expected at most ${over[2]} tokens, found ${over[1]}; drop such rows (filter_overlong_prompts) or allow more`,
      )
  })
  return { kept, all, prompt_lengths, answer_lengths }
}

/** The texts that a person wrote: a rendered prompt has words of its template too. */
const writtenTexts = ({ messages }: DataRow, [[key, prompt], ...answers]: Texts): Texts => [
  ...(messages?.map(({ content }) => [key, content] as const) ?? [[key, prompt] as const]),
  ...answers,
]

/** What of the texts of a row the vocabulary lacks, and the key of the first such text; undefined
 * where it lacks nothing. */
function lackingIn(texts: Texts, tokenizer: Tokenizer) {
  const found = texts.map(([key, text]) => ({ key, unknown: tokenizer.unknownIn(text) }))
  const first = found.find(({ unknown }) => unknown.length > 0)
  return first && { key: first.key, unknown: [...new Set(found.flatMap(({ unknown }) => unknown))] }
}
