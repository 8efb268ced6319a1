// Decides where `--out DIR` may write, and which files of an earlier run it may replace. A file
// that the lab did not write is never deleted.
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { stepOf } from '../../host/checkpoints/storage/places.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import { attempt, reason, statOf, UNFINISHED } from '../base/disk.ts'
import { readJson } from '../input/input_file.ts'
import { checkpointFolder, checkpointRecord, isUnfinished } from './checkpoint_files.ts'
import { LOCK, readLock, refuseLiving } from './run_lock.ts'

/** Holds room for the last record of a run on a disk that fills; gone when the run has ended. */
export const RESERVE = 'reserve'

/** What a run leaves in its folder, beside `checkpoints`. */
export const RUN_FILES = {
  experiment: 'experiment.json',
  metrics: 'metrics.jsonl',
  samples: 'samples.jsonl',
  observations: 'observations.jsonl',
  generations: 'generations.jsonl',
  table: 'metrics.csv',
  facts: 'run.json',
} as const
const NAMES = new Set<string>([...Object.values(RUN_FILES), RESERVE, LOCK])

/** What an earlier run says of itself. */
interface EarlierRun {
  /** '' where it was cut short before it wrote run.json. */
  readonly record: string
  readonly status: string
  readonly steps: number
}

/** The run that a folder holds; undefined where nothing shows that the lab wrote it. */
function earlierRun(folder: string): EarlierRun | undefined {
  try {
    const facts: unknown = readJson(join(folder, RUN_FILES.facts))
    const { record, status, steps, versions } = facts as Record<string, unknown>
    const understory = (versions as Record<string, unknown> | undefined)?.understory
    if (typeof understory === 'string' && typeof status === 'string' && typeof steps === 'number')
      return { record: typeof record === 'string' ? record : '', status, steps }
  } catch {
    // No run.json of the lab.
  }
  const owner = readLock(folder)
  return owner === undefined || owner === 'unknown'
    ? undefined
    : { record: '', status: 'cut short', steps: 0 }
}

const isRunFile = (name: string): boolean =>
  NAMES.has(name) || (name.endsWith(UNFINISHED) && NAMES.has(name.slice(0, -UNFINISHED.length)))

/** Paths in a folder, those below `checkpoints` included, sorted by whose they are. */
function sorted(folder: string, run: EarlierRun | undefined) {
  const own: string[] = []
  const foreign: string[] = []
  const inner = checkpointFolder(folder)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const isFile = statOf(path)?.isFile() ?? false
    if (path !== inner) (run && isFile && isRunFile(name) ? own : foreign).push(path)
  }
  for (const name of existsSync(inner) ? readNames(inner) : []) {
    const path = join(inner, name)
    const isWhole = stepOf(name) !== undefined && run !== undefined && isOf(run, path)
    ;(run && (isUnfinished(name) || isWhole) ? own : foreign).push(path)
  }
  return { own, foreign }
}

const isOf = ({ record }: EarlierRun, path: string): boolean =>
  record !== '' && checkpointRecord(path) === record

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    throw new LabFailure(`${folder}: expected a folder (${reason(error)}); move it away`)
  }
}

/** Names that the run to come would write, held by files that are not the lab's. */
const inTheWay = (folder: string, foreign: readonly string[]): string[] =>
  foreign.filter((path) => {
    const name = path.slice(folder.length).replace(/^[\\/]+/, '')
    return isRunFile(name) || /^checkpoints[\\/]step_\d+\.safetensors(\.unfinished)?$/.test(name)
  })

/** Refuses what is no folder for a new run: a file; a folder with anything in it, unless `force`;
 * with `force`, a folder where someone is at work, or whose foreign files have names that the run
 * needs. Throws UsageError or LabFailure. Changes nothing; returns the files of an earlier run that
 * this one replaces. */
export function refuseOut(folder: string, force: boolean): string[] {
  if (folder === '') throw new UsageError('--out: expected the name of a folder, got nothing')
  const found = statOf(folder)
  if (!found) return []
  if (!found.isDirectory())
    throw new LabFailure(`--out: ${folder} is not a folder. Name one that is, or a new one`)
  refuseLiving(folder)
  const run = earlierRun(folder)
  const { own, foreign } = sorted(folder, run)
  const held = inTheWay(folder, foreign)
  if (held.length > 0)
    throw new LabFailure(
      `--out: ${folder} has files under names that a run needs, and nothing shows that this run of the lab wrote them: ${some(held)}. ` +
        'They are left alone, also with --force. Name another folder, or move them away',
    )
  if (force || own.length + foreign.length === 0)
    return own.filter((path) => path !== join(folder, LOCK))
  if (run)
    throw new LabFailure(
      `--out: ${folder} holds an earlier run (${run.status} after step ${run.steps}). ` +
        `Name another folder, continue that run with --resume ${folder}, or replace it with --force`,
    )
  throw new LabFailure(
    `--out: ${folder} is not empty, and not a folder of the lab: ${some(foreign)}. ` +
      'Name another folder, or write beside these files with --force; it leaves them as they are',
  )
}

/** A few of many paths. */
const some = (paths: readonly string[]): string =>
  paths.slice(0, 3).join(', ') + (paths.length > 3 ? ` and ${paths.length - 3} more` : '')

/** Deletes what `refuseOut` named, and the folder of checkpoints where nothing else is left in
 * it. */
export function clearRun(folder: string, files: readonly string[]): void {
  for (const path of files) rmSync(path, { force: true })
  attempt(() => rmdirSync(checkpointFolder(folder)))
}
