// Opens logs of a file or a folder: the runs that are in it.
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type ImportedLog, LogError } from '../../jobs/logs/base/imported_log.ts'
import type { Pieces } from '../../jobs/logs/base/lines.ts'
import { chosenRuns, type FolderLog, folderLogs } from '../../jobs/logs/log_files.ts'
import { HEAD_BYTES, logReader, noLog, readLogs } from '../../jobs/logs/read_log.ts'
import { LabFailure } from '../base/command.ts'

/** Folders in folders that are looked into. */
const DEEPEST = 6

/** Paths of all files below a folder, with slashes. */
function filesBelow(folder: string, depth = 0): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name]
    if (depth >= DEEPEST) return []
    return filesBelow(join(folder, entry.name), depth + 1).map((path) => `${entry.name}/${path}`)
  })
}

/** Reads the runs of a log; of several only those that are named, where any is. Throws LabFailure
 * for what is none. */
export async function readSource(
  source: string,
  names: readonly string[] = [],
): Promise<readonly ImportedLog[]> {
  if (!existsSync(source)) throw new LabFailure(`${source}: no such file or folder`)
  try {
    if (!statSync(source).isDirectory()) return chosenRuns(await readFiles([source], source), names)
    const logs = folderLogs(filesBelow(source), source)
    return await readRuns(source, chosenRuns(logs, names), logs.length)
  } catch (error) {
    if (error instanceof LogError)
      throw new LabFailure(
        error.message.startsWith(source) ? error.message : `${source}: ${error.message}`,
      )
    throw error
  }
}

/** The only run of a log. Throws LabFailure for several. */
export async function readOneRun(source: string): Promise<ImportedLog> {
  const [log, ...others] = await readSource(source)
  if (others.length > 0)
    throw new LabFailure(
      `${source}: expected one run, found ${[log, ...others].map(({ run }) => run).join(', ')}. Take one of them with lab import --run NAME first`,
    )
  return log
}

/** Reads the runs of a folder; one that holds nothing is left out and said, where another can be
 * read. */
async function readRuns(
  source: string,
  logs: readonly FolderLog[],
  of: number,
): Promise<readonly ImportedLog[]> {
  const read: ImportedLog[] = []
  const refused: string[] = []
  for (const log of logs)
    try {
      read.push(...(await readFolder(source, log, of)))
    } catch (error) {
      if (!(error instanceof LogError)) throw error
      refused.push(`${log.run || source} was left out: ${error.message}`)
    }
  const [first, ...others] = read
  if (!first) throw new LogError(refused.join(' '))
  return [{ ...first, remarks: [...refused, ...first.remarks] }, ...others]
}

async function readFolder(source: string, log: FolderLog, of: number): Promise<ImportedLog[]> {
  const read = await readFiles(
    log.files.map((path) => join(source, path)),
    source,
  )
  return read.map((one) => ({
    ...one,
    run: of > 1 ? log.run || basename(source) : one.run,
    remarks: log.remark ? [log.remark, ...one.remarks] : one.remarks,
  }))
}

async function readFiles(
  files: readonly string[],
  source: string,
): Promise<readonly ImportedLog[]> {
  const reader = logReader(basename(files[0]), await headOf(files[0]))
  if (!reader) throw noLog(source)
  return await readLogs(
    reader,
    files.map((file) => ({ name: basename(file), pieces: () => piecesOf(file) })),
  )
}

async function headOf(file: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of createReadStream(file, { end: HEAD_BYTES - 1 })) pieces.push(piece)
  return Buffer.concat(pieces)
}

const piecesOf = (file: string): Pieces => createReadStream(file)
