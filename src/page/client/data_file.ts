// Reads a data file that a person brings: what it holds, what can be decided about it, and the
// experiment that trains on it. Loaded when the first one is brought.

import { type ContentFile, contentHash, tooLarge } from '../../document/content/content.ts'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { onDataSet } from '../../document/experiment/on_data_set.ts'
import { DATA_TOKENIZERS, type DataTokenizer } from '../../tasks/data/data_tokenizer.ts'
import { type LengthBin, lengthBins, medianLength } from '../../tasks/data/lengths.ts'
import { choiceOf } from '../../tasks/data/load_data.ts'
import type { DataPlan, Found, Prepared } from '../../tasks/data/plan.ts'
import { roleOf } from '../../tasks/data/rows/propose.ts'
import { BadRowsError } from '../../tasks/data/table/bad_rows.ts'
import { ROW_FORMATS, type RowFormat } from '../../tasks/data/table/data_file.ts'
import { TOKENIZER_FILES } from '../../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { packTokenizer } from '../../tasks/tokenizers/packed.ts'
import { LARGEST_BPE, SMALLEST_BPE } from '../../tasks/tokenizers/train_bpe.ts'
import { labPage } from '../connection/connection.ts'
import type { DataHead } from '../connection/data_messages.ts'
import { keepContent } from '../contents/content_files.ts'
import { type DataWatch, DataWork, sourceOf } from '../contents/data_work.ts'
import { labStore } from '../state/store.ts'
import { openExperiment } from './opening.ts'

export type { ContentFile, DataPlan, Found, LengthBin, Prepared }
export { roleOf }
/** Tokens that a byte-pair encoding can have. */
export const BPE_SIZES = [SMALLEST_BPE, LARGEST_BPE] as const

/** A file that was read, as far as a person sees it. */
export interface OpenedData extends DataHead {
  readonly name: string
  readonly content: ContentFile
}

/** What a row can be, by name. */
export const ROW_FORMAT_CHOICES = Object.entries(ROW_FORMATS) as [RowFormat, string][]

/** The tokenizers to choose from, by name. */
export const TOKENIZER_CHOICES = Object.entries(DATA_TOKENIZERS) as [DataTokenizer, string][]

/** One worker for the dialog: it keeps what it has read. */
let work: DataWork | undefined
const worker = () => {
  const open = labPage().dataPort
  if (!open) throw new Error('this page has no workers')
  work ??= new DataWork(open)
  return work
}

/** Lets go of the tables that the dialog has read. */
export function endReading(): void {
  work?.end()
  work = undefined
}

/** Throws DataFileError, or RangeError for a file that is too large, before it is read. */
export async function readDataFile(file: File, watch: DataWatch): Promise<OpenedData> {
  const why = tooLarge(file.size)
  if (why !== undefined) throw new RangeError(`${file.name}: ${why}`)
  const bytes = new Uint8Array(await file.arrayBuffer())
  const { name } = file
  const content = { hash: await contentHash(bytes), name, bytes }
  const head = await worker().open({ name, hash: content.hash, blob: file }, watch)
  return { ...head, name, content }
}

export type Outcome =
  | { readonly ok: true; readonly prepared: Prepared }
  /** `bad_rows`: how many could be left out. */
  | { readonly ok: false; readonly why: string; readonly bad_rows?: number }

/** The files of a tokenizer as one file of content: tokenizer.json, and those beside it that say
 * ends and templates. */
export async function readTokenizer(files: readonly File[]): Promise<ContentFile> {
  const own = (file: File) => TOKENIZER_FILES.find((name) => name === file.name)
  const main = files.find((file) => own(file) === 'tokenizer.json') ?? files[0]
  const others = files.filter((file) => file !== main && own(file) !== undefined)
  const why = tooLarge(files.reduce((sum, { size }) => sum + size, 0))
  if (why !== undefined) throw new RangeError(`${main.name}: ${why}`)
  const texts = await Promise.all(others.map(async (file) => [file.name, await file.text()]))
  const packed = { 'tokenizer.json': await main.text(), ...Object.fromEntries(texts) }
  const bytes = new TextEncoder().encode(packTokenizer(packed))
  return { hash: await contentHash(bytes), name: main.name.slice(-MOST_NAME), bytes }
}

/** What a plan needs besides the files: the file of a tokenizer, and how the work is watched and
 * ended. */
export interface Making extends DataWatch {
  readonly tokenizer?: ContentFile | undefined
}

/** The rows of a plan, or why there are none. */
export async function outcomeOf(
  train: OpenedData,
  val: OpenedData | undefined,
  plan: DataPlan,
  { tokenizer: file, ...watch }: Making,
): Promise<Outcome> {
  if (plan.tokenizer === 'file' && !file) return { ok: false, why: 'Choose a tokenizer.json.' }
  const files = {
    train: sourceOf(train.content),
    val: val && sourceOf(val.content),
    tokenizer: file && sourceOf(file),
  }
  try {
    return { ok: true, prepared: await worker().prepare({ ...files, plan }, watch) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const bad_rows = error instanceof BadRowsError ? error.bad.count : undefined
    return { ok: false, why, ...(bad_rows !== undefined && { bad_rows }) }
  }
}

const BINS = 24

/** How long rows are: bars, and in words. */
export function lengthsShown(name: string, lengths: readonly number[]) {
  const bins = lengthBins(lengths, BINS)
  const range = `${bins[0]?.from ?? 0} to ${bins.at(-1)?.to ?? 0} tokens`
  return { bins, words: `${name}: ${range}, half of them at most ${medianLength(lengths)}` }
}

/** Why the rows are not in the settings; else what was changed for them, in sentences. */
export type Applied = { readonly refused: string } | { readonly told: readonly string[] }

/** Puts the rows into the settings and keeps their files. */
export async function applyData(
  train: OpenedData,
  val: OpenedData | undefined,
  plan: DataPlan,
  prepared: Prepared,
  given: ContentFile | undefined,
): Promise<Applied> {
  const tokenizer = plan.tokenizer === 'file' ? given : undefined
  const files = {
    ...(tokenizer && { tokenizer_data: tokenizer.hash, tokenizer_name: tokenizer.name }),
    data: train.content.hash,
    name: train.name.slice(-MOST_NAME),
    val_data: val?.content.hash ?? null,
    val_name: val?.name.slice(-MOST_NAME) ?? null,
  }
  const task = choiceOf(files, plan, prepared)
  const document = { ...labStore.getState().experiment, data: {}, steering: [] }
  const { fields, told } = onDataSet(document, task)
  const parsed = parseExperiment({ ...document, ...fields })
  if (!parsed.ok)
    return { refused: parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('\n') }
  for (const file of [train.content, val?.content, tokenizer]) if (file) await keepContent(file)
  const refused = openExperiment(parsed.experiment, train.name)
  return refused === undefined ? { told } : { refused }
}

/** Characters of `task.name`. */
const MOST_NAME = 80
