// Turns tables into what an experiment trains on: rows, tokenizer, split, lengths, and what a
// person should know of them.
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import { dataTokenizer, type TokenizerSource } from './make_tokenizer.ts'
import { type Making, type Measured, measure, rendered } from './measure.ts'
import type { DataPlan, Found, Prepared } from './plan.ts'
import { mapRows } from './rows/mapping.ts'
import { notesOf } from './rows/notes.ts'
import { answerType, type DataRow, type PlacedRow, textOfTruth } from './rows/row.ts'
import { joinVerdicts } from './rows/verdict.ts'
import { type SplitRows, splitRows, splitVerdicts, usualTestSize } from './split.ts'
import { BadRows, BadRowsError } from './table/bad_rows.ts'
import { DataFileError } from './table/data_file.ts'
import type { NamedTable } from './table/named_table.ts'
import { textRows } from './text_rows.ts'

/** Tokens of a row of text, and of an answer that is no text, where a person does not say how
 * many. */
const TEXT_LENGTH = 64
/** Fewer rows cannot be split. */
const FEWEST_ROWS = 5

/** Rows, tokenizer and split of a plan. Throws DataFileError naming file, row and column where the
 * tables are no such data; BadRowsError where rows cannot be used, or hold characters that the
 * tokenizer lacks, and the plan does not leave them out. */
export async function prepareData(
  train: NamedTable,
  val: NamedTable | undefined,
  plan: DataPlan,
  source?: TokenizerSource,
): Promise<Prepared> {
  const bad = new BadRows()
  const files = val ? [train, val] : [train]
  for (const file of files) bad.addAll(file.bad)
  const placed = files.map((file) => placedRows(file, plan, bad))
  refuseBad(bad, placed[0], plan)
  const texts = placed.flatMap((rows) =>
    rows.flatMap(({ row }) => [row.prompt, textOfTruth(row.ground_truth), ...(row.rejected ?? [])]),
  )
  const isText = plan.row_format === 'answers' && plan.prompt_key === null
  const tokenizer = await dataTokenizer(plan, texts.concat(isText ? '\n' : []), source)
  const making: Making = { tokenizer, plan, bad, onProgress: source?.onProgress }
  const measured = placed.map((rows, i) =>
    measure(rendered(rows, files[i], making), files[i], isText ? anyLength(making) : making),
  )
  refuseBad(bad, measured[0].kept, plan)
  const joined = measured.map(({ kept }, i) => {
    if (plan.row_format !== 'verdicts') return { rows: kept, notes: [] }
    const verdicts = joinVerdicts(kept)
    refuseOneKind(files[i].name, kept, plan, i === 0)
    return verdicts
  })
  const [own, held] = joined
  const notes = [...notesOf(train.table, plan), ...own.notes]
  if (isText) {
    const length = plan.max_response_length ?? TEXT_LENGTH
    const cut = { tokenizer, length, test_size: plan.test_size }
    const rows = textRows(own.rows, held?.rows, cut, bad)
    return { ...rows, found: { ...rows.found, notes } }
  }
  const sides = held ? { train: own.rows, test: held.rows } : ownSplit(own.rows, train.name, plan)
  const all = { train: measured[0].kept, test: measured.at(1)?.kept ?? [] }
  const judged = held ? all : splitVerdicts(all.train, sides, plan.split_seed)
  const verdicts = plan.row_format === 'verdicts' ? judged : undefined
  return prepared({ ...sides, ...(verdicts && { verdicts }) }, measured, tokenizer, plan, {
    bad,
    notes,
    shared: held ? sharedPrompts(sides) : 0,
  })
}

/** Verdicts on one kind of answers say nothing of what is better. Good ones may be held out
 * alone. */
function refuseOneKind(
  file: string,
  rows: readonly DataRow[],
  { label_key }: DataPlan,
  isTrained: boolean,
): void {
  const bad = rows.filter(({ rejected }) => rejected).length
  const good = rows.length - bad
  if (bad > 0 && good === 0)
    throw new DataFileError(
      `${file}: expected good answers too, found ${bad} bad ones alone (column ${label_key}); a policy learns from answers of both kinds`,
    )
  if (isTrained && good > 0 && bad === 0)
    throw new DataFileError(
      `${file}: expected bad answers too, found ${good} good ones alone (column ${label_key}); a policy learns from answers of both kinds. To imitate good ones, read a row as a question and its answer (row_format=answers)`,
    )
}

/** Text is cut into rows, so none of it is too long. */
const anyLength = (making: Making): Making => ({
  ...making,
  plan: { ...making.plan, max_prompt_length: null, max_response_length: null },
})

/** The rows of a file that can be used, with their places. */
function placedRows({ name, table }: NamedTable, plan: DataPlan, bad: BadRows) {
  const mapped = mapRows(table, plan, name, { onBadRow: bad.add })
  return mapped.flatMap((own, r) => (own ?? []).map((row): PlacedRow => ({ row, r })))
}

function prepared(
  sides: SplitRows & Pick<Prepared, 'verdicts'>,
  measured: readonly Measured[],
  tokenizer: Tokenizer,
  plan: DataPlan,
  said: Pick<Found, 'bad' | 'shared' | 'notes'>,
): Prepared {
  const all = measured.flatMap((one) => one.all)
  const prompt_lengths = measured.flatMap((one) => one.prompt_lengths)
  const answerLengths = measured.flatMap((one) => one.answer_lengths)
  const answers = answerType(plan, all)
  // What a program or a reward model scores may be longer than the answers of the file.
  const room = answers === 'text' ? 1 : TEXT_LENGTH
  const { train, test } = sides.verdicts ?? sides
  return {
    ...sides,
    tokenizer,
    answers,
    max_prompt_length: plan.max_prompt_length ?? largest(prompt_lengths),
    max_response_length: plan.max_response_length ?? Math.max(room, largest(answerLengths)),
    found: {
      rows: all.length,
      ...repeated(sides.verdicts ? [...sides.train, ...sides.test] : all),
      dropped: all.length - train.length - test.length,
      ...said,
      prompt_lengths,
      answer_lengths: answers === null ? [] : answerLengths,
    },
  }
}

/** Throws BadRowsError where there are bad rows that the plan does not leave out, or no others. */
function refuseBad(bad: BadRows, rows: readonly unknown[], { skip_bad_rows }: DataPlan): void {
  if (bad.count > 0 && (!skip_bad_rows || rows.length === 0)) throw new BadRowsError(bad)
}

const largest = (values: readonly number[]) => values.reduce((most, one) => Math.max(most, one), 1)

function ownSplit(rows: readonly DataRow[], file: string, plan: DataPlan): SplitRows {
  const size = plan.test_size ?? usualTestSize(rows.length)
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
  for (const { prompt, ground_truth, rejected = [] } of rows) {
    const own = answers.get(prompt) ?? new Set()
    answers.set(prompt, own)
    // Pairs with the same better answer are other pairs.
    const answer = JSON.stringify([ground_truth, ...rejected])
    if (own.has(answer)) duplicates++
    own.add(answer)
  }
  return { duplicates, ambiguous: [...answers.values()].filter(({ size }) => size > 1).length }
}

function sharedPrompts({ train, test }: SplitRows): number {
  const trained = new Set(train.map(({ prompt }) => prompt))
  return new Set(test.flatMap(({ prompt }) => (trained.has(prompt) ? [prompt] : []))).size
}
