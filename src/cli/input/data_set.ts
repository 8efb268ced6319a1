// Reads the data files of a run: --data FILE and --val-data FILE, and those that the experiment
// itself names.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import {
  ContentError,
  type ContentFile,
  contentHash,
  tooLarge,
} from '../../document/content/content.ts'
import {
  type OnDataSet,
  onDataSet,
  usualDataExperiment,
} from '../../document/experiment/on_data_set.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { isObject } from '../../formats/json.ts'
import { contentStore } from '../../host/content/content_store.ts'
import { loadContents } from '../../host/content/load.ts'
import { shippedList } from '../../host/content/models/shipped.ts'
import { contentNames } from '../../host/content/named.ts'
import type { DataChoice } from '../../tasks/data/data_task.ts'
import type { DataTokenizer } from '../../tasks/data/data_tokenizer.ts'
import { choiceOf, prepareFiles } from '../../tasks/data/load_data.ts'
import { type DataPlan, USUAL_PLAN } from '../../tasks/data/plan.ts'
import { readRows } from '../../tasks/data/readers/readers.ts'
import { proposeMapping } from '../../tasks/data/rows/propose.ts'
import { BadRowsError, type FoundBad } from '../../tasks/data/table/bad_rows.ts'
import { DataFileError } from '../../tasks/data/table/data_file.ts'
import { loadTask } from '../../tasks/index.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import { reason } from '../base/disk.ts'
import { tell } from '../base/terminal.ts'
import { cacheFolder, diskFolder } from './content_folder.ts'
import type { DocumentChange } from './experiment_source.ts'
import { type GivenTokenizer, givenTokenizer, modelTokenizer } from './given_tokenizer.ts'
import { readInput } from './input_file.ts'
import { givenRows } from './rows/given_rows.ts'

/** What the command line says of data. */
export interface DataOptions {
  readonly data?: string | undefined
  readonly 'val-data'?: string | undefined
  readonly tokenizer?: string | undefined
  readonly 'skip-bad-rows'?: boolean | undefined
  /** FIELD=VALUE of the plan, in place of what the rows suggest. */
  readonly rows?: readonly string[] | undefined
}

/** The files of --data and --val-data, and what --tokenizer and --skip-bad-rows say. */
export interface GivenData {
  readonly train: ContentFile
  readonly val: ContentFile | undefined
  readonly tokenizer?: GivenTokenizer | undefined
  readonly skip_bad_rows?: boolean | undefined
  readonly rows?: Partial<DataPlan>
}

/** Throws UsageError. */
export function refuseLoneValData(values: DataOptions): void {
  const { data, 'val-data': val, tokenizer } = values
  if (values['skip-bad-rows'] && data === undefined)
    throw new UsageError('--skip-bad-rows: leaves out rows of --data FILE; there is no --data')
  if (values.rows && data === undefined)
    throw new UsageError('--rows: says what the rows of --data FILE are; there is no --data')
  if (tokenizer !== undefined && data === undefined)
    throw new UsageError('--tokenizer: reads the rows of --data FILE; there is no --data')
  if (val !== undefined && data === undefined)
    throw new UsageError('--val-data: holds out rows for --data FILE; there is no --data')
}

/** Undefined where there is no --data. The rows are read with the tokenizer that is named, else
 * with that of the model that is trained on them. Throws LabFailure, ModelFileError or
 * UsageError. */
export async function givenData(
  values: DataOptions,
  model?: string,
): Promise<GivenData | undefined> {
  refuseLoneValData(values)
  const { data, 'val-data': val } = values
  if (data === undefined) return undefined
  return {
    train: await contentOf(data),
    val: val === undefined ? undefined : await contentOf(val),
    tokenizer: await tokenizerOf(values.tokenizer, model),
    skip_bad_rows: values['skip-bad-rows'],
    rows: givenRows(values.rows),
  }
}

async function tokenizerOf(named: string | undefined, model: string | undefined) {
  if (named !== undefined) return givenTokenizer(named)
  return model === undefined ? undefined : modelTokenizer(model)
}

async function contentOf(file: string): Promise<ContentFile> {
  const why = tooLarge(statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  if (why !== undefined) throw new LabFailure(`${file}: ${why}`)
  const bytes = new Uint8Array(readInput(file))
  return { hash: await contentHash(bytes), name: basename(file), bytes }
}

/** What else decides how the rows become a task. */
export interface Beginning {
  readonly 'warm-start'?: string | undefined
}

/** An experiment on the rows, all of them in every epoch where it does not say how many; one that
 * names the file already stays as it is. What begins with weights of the lab keeps its vocabulary,
 * else the characters of the rows are the vocabulary where no tokenizer is given. Throws LabFailure
 * for files that are no such data. */
export async function trainedOn(
  given: GivenData,
  { 'warm-start': warm }: Beginning = {},
): Promise<DocumentChange> {
  const tokenizer = warm === undefined ? 'characters' : 'arithmetic'
  const task = await taskOn(given, tokenizer)
  return (document) => {
    if (isObject(document.task) && document.task.data === task.data) return {}
    const { ofModel } = given.tokenizer ?? {}
    if (ofModel !== undefined) tell(`The rows are read with the tokenizer of ${ofModel}`)
    return toldFields(onDataSet(document, task))
  }
}

/** The usual experiment around files that are given without one, as a document; `say` is told what
 * became of its phases. Throws LabFailure for files that are no such data. */
export async function documentAround(
  given: GivenData,
  say: (sentence: string) => void = tell,
): Promise<Readonly<Record<string, unknown>>> {
  return toldFields(usualDataExperiment(await taskOn(given, 'characters')), say)
}

function toldFields({ fields, told }: OnDataSet, say = tell): OnDataSet['fields'] {
  for (const sentence of told) say(sentence)
  return fields
}

/** What an experiment writes of the rows. Throws LabFailure. */
async function taskOn(
  { train, val, tokenizer: given, skip_bad_rows = false, rows }: GivenData,
  usual: DataTokenizer,
): Promise<DataChoice> {
  try {
    const { file, ofModel: _, ...chosen } = given ?? { tokenizer: usual, file: undefined }
    const { table } = await readRows(train)
    const plan = { ...USUAL_PLAN, ...proposeMapping(table), ...rows, ...chosen, skip_bad_rows }
    const files = {
      data: train.hash,
      name: train.name,
      val_data: val?.hash ?? null,
      val_name: val?.name ?? null,
      tokenizer_data: file?.hash ?? null,
      tokenizer_name: file?.name ?? null,
    }
    const prepared = await prepareFiles(train, val, plan, { file })
    for (const note of prepared.found.notes) tell(`${train.name}: ${note}`)
    tellBad(prepared.found.bad)
    return choiceOf(files, plan, prepared)
  } catch (error) {
    if (error instanceof BadRowsError && !skip_bad_rows)
      throw new LabFailure(`--data: ${error.message}. To leave such rows out: --skip-bad-rows`)
    throw new LabFailure(`--data: ${reason(error)}`)
  }
}

/** Says how many rows are left out, and why the first ones are. */
function tellBad({ count, first }: FoundBad): void {
  if (count === 0) return
  const more = count > first.length ? [`and ${count - first.length} more`] : []
  tell(
    [`${count} ${count === 1 ? 'row is' : 'rows are'} left out:`, ...first, ...more].join('\n  '),
  )
}

/** Loads every file that an experiment names: from `given` and `more` (a bundle's, a program), else
 * from the cache folder, where given files are kept for later runs. A teacher comes by itself
 * (train/given_teacher.ts), or with its checkpoint. Throws LabFailure for a file that is in neither
 * place, or that does not hold what the experiment says of it. */
export async function loadNamedFiles(
  experiment: Experiment,
  given: GivenData | undefined,
  say: (message: string) => void,
  more: readonly ContentFile[] = [],
): Promise<void> {
  await loadTask(experiment.task.id)
  const { teacher: _, ...others } = experiment
  const names = contentNames(others)
  if (names.length === 0) return
  const store = contentStore(diskFolder(cacheFolder()))
  const own = [given?.train, given?.val, given?.tokenizer?.file, ...more].flatMap(
    (file) => file ?? [],
  )
  const files: ContentFile[] = []
  for (const { hash, name } of names) {
    const file = own.find((one) => one.hash === hash)
    const found = file ?? (await store.read(hash).catch(() => undefined)) ?? shippedList(hash)
    if (!found) throw new LabFailure(missingFile(name, hash, own))
    files.push(found)
    if (file)
      await store.put(file.bytes, file.name).catch((error) => {
        say(`${file.name} is not kept for later runs (${reason(error)})`)
      })
  }
  try {
    await loadContents(experiment, files)
  } catch (error) {
    if (
      !(
        error instanceof ContentError ||
        error instanceof DataFileError ||
        error instanceof RangeError
      )
    )
      throw error
    throw new LabFailure(error.message)
  }
}

function missingFile(name: string, hash: string, given: readonly ContentFile[]): string {
  const others = given.map((file) => `${file.name} (${file.hash})`)
  const found = others.length > 0 ? `; found ${others.join(' and ')}` : ''
  return `the experiment uses ${name} (${hash}), which is not on this machine: give it with --data FILE, or a program with --reward FILE or --tool FILE${found}`
}
