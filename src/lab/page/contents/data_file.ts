// A data file that a person brings: what it holds, what can be decided about it, and the experiment that trains on it. Loaded when the first one
// is brought.
import { DATA_TOKENIZERS, type DataTokenizer } from '../../../tasks/data/data_tokenizer.ts'
import { type LengthBin, lengthBins, medianLength } from '../../../tasks/data/lengths.ts'
import { choiceOf } from '../../../tasks/data/load_data.ts'
import { keysOf, proposeMapping } from '../../../tasks/data/mapping.ts'
import {
  type DataPlan,
  type Found,
  type NamedTable,
  type Prepared,
  USUAL_PLAN,
} from '../../../tasks/data/plan.ts'
import { prepareData } from '../../../tasks/data/prepare.ts'
import { readTable } from '../../../tasks/data/readers/readers.ts'
import { shownCell } from '../../../tasks/data/table.ts'
import { TOKENIZER_FILES } from '../../../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { packTokenizer } from '../../../tasks/tokenizers/packed.ts'
import { LARGEST_BPE, SMALLEST_BPE } from '../../../tasks/tokenizers/train_bpe.ts'
import { type ContentFile, contentHash, tooLarge } from '../../content/content.ts'
import { parseExperiment } from '../../experiment/experiment.ts'
import { onDataSet } from '../../experiment/on_data_set.ts'
import { openExperiment } from '../client/opening.ts'
import { labStore } from '../store.ts'
import { type BpeWatch, trainBpeInWorker } from './bpe_training.ts'
import { keepContent } from './content_files.ts'

export type { ContentFile, DataPlan, Found, LengthBin, Prepared }
/** Tokens that a byte-pair encoding can have. */
export const BPE_SIZES = [SMALLEST_BPE, LARGEST_BPE] as const

/** A file that was read, as far as a person sees it. */
export interface OpenedData extends NamedTable {
  readonly content: ContentFile
  /** Columns, and names inside of columns that hold objects. */
  readonly keys: readonly string[]
  /** What each column is likely to be, and the usual choices. */
  readonly first_plan: DataPlan
  /** The first rows, a text for each column. */
  readonly first_rows: readonly { readonly place: string; readonly cells: readonly string[] }[]
}

const SHOWN_ROWS = 5
const SHOWN_CHARACTERS = 120

/** The tokenizers to choose from, by name. */
export const TOKENIZER_CHOICES = Object.entries(DATA_TOKENIZERS) as [DataTokenizer, string][]

/** Throws DataFileError, or RangeError for a file that is too large, before it is read. */
export async function readDataFile(file: File): Promise<OpenedData> {
  const why = tooLarge(file.size)
  if (why !== undefined) throw new RangeError(`${file.name}: ${why}`)
  const bytes = new Uint8Array(await file.arrayBuffer())
  const { name } = file
  const table = await readTable({ name, bytes })
  return {
    ...{ name, table, content: { hash: await contentHash(bytes), name, bytes } },
    keys: keysOf(table),
    first_plan: { ...USUAL_PLAN, ...proposeMapping(table) },
    first_rows: table.rows.slice(0, SHOWN_ROWS).map((row, r) => ({
      place: table.placeOf(r),
      cells: row.map((cell) =>
        typeof cell === 'string' ? cell.slice(0, SHOWN_CHARACTERS) : shownCell(cell),
      ),
    })),
  }
}

export type Outcome =
  | { readonly ok: true; readonly prepared: Prepared }
  | { readonly ok: false; readonly why: string }

/** The files of a tokenizer as one file of content: tokenizer.json, and those beside it that say ends and templates. */
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

/** What a plan needs besides the tables: the file of a tokenizer, and how the training of one is watched and ended. */
export interface Making extends BpeWatch {
  readonly tokenizer?: ContentFile | undefined
}

/** The rows of a plan, or why there are none. */
export async function outcomeOf(
  train: NamedTable,
  val: NamedTable | undefined,
  plan: DataPlan,
  { tokenizer: file, ...watch }: Making,
): Promise<Outcome> {
  if (plan.answer_key === '') return { ok: false, why: 'Say which column holds the right answer.' }
  if (plan.tokenizer === 'file' && !file) return { ok: false, why: 'Choose a tokenizer.json.' }
  const source = { file, trainBpe: trainBpeInWorker(watch) }
  try {
    return { ok: true, prepared: await prepareData(train, val, plan, source) }
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) }
  }
}

const BINS = 24

/** How long rows are: bars, and in words. */
export function lengthsShown(name: string, lengths: readonly number[]) {
  const bins = lengthBins(lengths, BINS)
  const range = `${bins[0]?.from ?? 0} to ${bins.at(-1)?.to ?? 0} tokens`
  return { bins, words: `${name}: ${range}, half of them at most ${medianLength(lengths)}` }
}

/** Puts the rows into the settings and keeps their files. Returns why not, if so. */
export async function applyData(
  train: OpenedData,
  val: OpenedData | undefined,
  plan: DataPlan,
  prepared: Prepared,
  given: ContentFile | undefined,
): Promise<string | undefined> {
  const tokenizer = plan.tokenizer === 'file' ? given : undefined
  const files = {
    ...(tokenizer && { tokenizer_data: tokenizer.hash, tokenizer_name: tokenizer.name }),
    ...{ data: train.content.hash, name: train.name.slice(-MOST_NAME) },
    ...{ val_data: val?.content.hash ?? '', val_name: val?.name.slice(-MOST_NAME) ?? '' },
  }
  const task = choiceOf(files, plan, prepared)
  const document = { ...labStore.getState().experiment, data: {}, steering: [] }
  const parsed = parseExperiment({ ...document, ...onDataSet(document, task) })
  if (!parsed.ok) return parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('\n')
  for (const file of [train.content, val?.content, tokenizer]) if (file) await keepContent(file)
  return openExperiment(parsed.experiment, train.name)
}

/** Characters of `task.name`. */
const MOST_NAME = 80
