// Writes a folder of files that is there whole or not at all: it is written beside its place under
// another name, and renamed when it is complete.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OutFile } from '../../formats/out_file.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import {
  attempt,
  type Disk,
  nodeDisk,
  reason,
  statOf,
  UNFINISHED,
  writeWhole,
} from '../base/disk.ts'
import { readJson } from '../input/input_file.ts'

/** What the lab leaves in every folder that it exports; a folder with it may be replaced. */
export const EXPORT_MARK = 'understory.json'

/** Refuses what is no place for a new folder. Throws UsageError or LabFailure; changes nothing. */
export function refuseFolder(folder: string, force: boolean): void {
  if (folder === '') throw new UsageError('export: expected the name of a folder, got nothing')
  const found = statOf(folder)
  if (!found) return
  if (!found.isDirectory())
    throw new LabFailure(`${folder} is not a folder. Name one that is not there yet`)
  if (namesIn(folder).length === 0) return
  const isOurs = isExport(folder)
  if (isOurs && force) return
  throw new LabFailure(
    isOurs
      ? `${folder} holds an earlier export. Name another folder, or replace it with --force`
      : `${folder} is not empty, and no export of the lab, so it is left alone. Name another folder`,
  )
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    throw new LabFailure(`${folder}: ${reason(error)}`)
  }
}

function isExport(folder: string): boolean {
  try {
    const { format } = readJson(join(folder, EXPORT_MARK)) as Record<string, unknown>
    return typeof format === 'string' && format.startsWith('understory-')
  } catch {
    return false
  }
}

/** Writes the files and gives the folder its name; what is cut short leaves the old folder or none.
 * Returns the bytes written. Call refuseFolder first. Throws LabFailure where the system
 * refuses. */
export function writeFolder(
  folder: string,
  files: readonly OutFile[],
  disk: Disk = nodeDisk,
): number {
  const place = folder.replace(/[\\/]+$/, '') || folder
  const unfinished = `${place}${UNFINISHED}`
  try {
    rmSync(unfinished, { recursive: true, force: true })
    // Node asks for folders above it without end where the system has none, as in /proc.
    if (existsSync(dirname(unfinished))) mkdirSync(unfinished)
    else disk.makeFolder(unfinished)
    const bytes = files.reduce((sum, file) => sum + writeFile(unfinished, file, disk), 0)
    moveIn(place, unfinished)
    return bytes
  } catch (error) {
    attempt(() => rmSync(unfinished, { recursive: true, force: true }))
    throw new LabFailure(
      `${folder}: cannot be written (${reason(error)}). Name a folder that you may write to, on a disk with room; nothing was left there`,
    )
  }
}

function writeFile(folder: string, { path, pieces }: OutFile, disk: Disk): number {
  const target = join(folder, path)
  disk.makeFolder(dirname(target))
  const file = disk.open(target, 'wx')
  let bytes = 0
  try {
    for (const piece of pieces) {
      writeWhole(disk, file, piece)
      bytes += piece.length
    }
    disk.flush(file)
  } finally {
    disk.close(file)
  }
  return bytes
}

/** An earlier export moves aside until the new one has its place. */
function moveIn(place: string, unfinished: string): void {
  if (!existsSync(place)) return renameSync(unfinished, place)
  const aside = `${place}.replaced`
  rmSync(aside, { recursive: true, force: true })
  renameSync(place, aside)
  try {
    renameSync(unfinished, place)
  } catch (error) {
    renameSync(aside, place)
    throw error
  }
  rmSync(aside, { recursive: true, force: true })
}
