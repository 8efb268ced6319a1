// Data files of a run: --data FILE and --val-data FILE, and those that the experiment itself names.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { ContentError, type ContentFile, contentHash, tooLarge } from '../../lab/content/content.ts'
import { contentStore } from '../../lab/content/content_store.ts'
import { loadContents } from '../../lab/content/load.ts'
import { contentNames } from '../../lab/content/named.ts'
import type { Experiment } from '../../lab/experiment/schema.ts'
import type { DataChoice } from '../../tasks/data/data_task.ts'
import { readDataFiles } from '../../tasks/data/load_data.ts'
import { DataFileError } from '../../tasks/data/verl_rows.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { LabFailure, UsageError } from '../command.ts'
import { reason } from '../output/disk.ts'
import { cacheFolder, diskFolder } from './content_folder.ts'
import type { DocumentChange } from './experiment_source.ts'
import { readInput } from './input_file.ts'

/** What the command line says of data. */
export interface DataOptions {
  readonly data?: string | undefined
  readonly 'val-data'?: string | undefined
}

/** The files of --data and --val-data. */
export interface GivenData {
  readonly train: ContentFile
  readonly val: ContentFile | undefined
}

/** Throws UsageError. */
export function refuseLoneValData({ data, 'val-data': val }: DataOptions): void {
  if (val !== undefined && data === undefined)
    throw new UsageError('--val-data: holds out rows for --data FILE; there is no --data')
}

/** Undefined where there is no --data. Throws LabFailure or UsageError. */
export async function givenData(values: DataOptions): Promise<GivenData | undefined> {
  refuseLoneValData(values)
  const { data, 'val-data': val } = values
  if (data === undefined) return undefined
  return { train: await contentOf(data), val: val === undefined ? undefined : await contentOf(val) }
}

async function contentOf(file: string): Promise<ContentFile> {
  const why = tooLarge(statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  if (why !== undefined) throw new LabFailure(`${file}: ${why}`)
  const bytes = new Uint8Array(readInput(file))
  return { hash: await contentHash(bytes), name: basename(file), bytes }
}

/** An experiment on the rows, all of them in every epoch where it does not say how many. Throws LabFailure for files that are no such data. */
export function trainedOn(given: GivenData): DocumentChange {
  const task = choiceOf(given)
  return ({ data }) => ({ task, data: { train_max_samples: task.train_size, ...(data as object) } })
}

/** What an experiment writes of the rows. Throws LabFailure. */
function choiceOf({ train, val }: GivenData): DataChoice {
  try {
    const set = readDataFiles(train, val)
    const all = [...set.train, ...set.test]
    return {
      id: 'dataset',
      ...{ data: train.hash, name: train.name },
      ...{ val_data: val?.hash ?? '', val_name: val?.name ?? '' },
      max_prompt_length: longest(all.map(({ prompt }) => prompt)),
      // The end token too.
      max_response_length: longest(all.map(({ ground_truth }) => ground_truth)) + 1,
      train_size: set.train.length,
      test_size: set.test.length,
    }
  } catch (error) {
    throw new LabFailure(`--data: ${reason(error)}`)
  }
}

const longest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, arithmetic.encode(text).length), 1)

/**
 * Loads every file that an experiment names: from `given` and `more`, else from the cache folder, where given files are kept for later runs. Throws
 * LabFailure for a file that is in neither, or that does not hold what the experiment says of it.
 */
export async function loadNamedFiles(
  experiment: Experiment,
  given: GivenData | undefined,
  tell: (message: string) => void,
  more: readonly ContentFile[] = [],
): Promise<void> {
  const names = contentNames(experiment)
  if (names.length === 0) return
  const store = contentStore(diskFolder(cacheFolder()))
  const own = [given?.train, given?.val, ...more].flatMap((file) => file ?? [])
  const files: ContentFile[] = []
  for (const { hash, name } of names) {
    const file = own.find((one) => one.hash === hash)
    const found = file ?? (await store.read(hash).catch(() => undefined))
    if (!found) throw new LabFailure(missingFile(name, hash, own))
    files.push(found)
    if (file)
      await store.put(file.bytes, file.name).catch((error) => {
        tell(`${file.name} is not kept for later runs (${reason(error)})`)
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
  return `the experiment uses ${name} (${hash}), which is not on this machine: give it with --data FILE, or a program with --reward FILE${found}`
}
