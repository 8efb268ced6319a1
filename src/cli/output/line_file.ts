// Reads files of lines that may be longer than memory: read piece by piece.
import { closeSync, existsSync, openSync, readSync, statSync, truncateSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { csvTable } from '../../formats/text_tables.ts'
import { attempt, type Disk, nodeDisk, UNFINISHED, writeWhole } from '../base/disk.ts'
import { withoutMark } from '../input/input_file.ts'

const PIECE_BYTES = 2 ** 20

/** The whole lines of a file, without their ends, and the byte after each; what follows the last
 * end of line is none. */
export function* linesOf(path: string): Generator<{ readonly line: string; readonly end: number }> {
  const file = openSync(path, 'r')
  try {
    const piece = Buffer.alloc(PIECE_BYTES)
    const decoder = new StringDecoder('utf8')
    let [open, at, isFirst] = ['', 0, true]
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      let from = 0
      for (let to = piece.indexOf(10); to >= 0 && to < read; to = piece.indexOf(10, from)) {
        const text = open + decoder.write(piece.subarray(from, to)) + decoder.end()
        const line = isFirst ? withoutMark(text) : text
        isFirst = false
        open = ''
        from = to + 1
        yield { line, end: at + from }
      }
      open += decoder.write(piece.subarray(from, read))
      at += read
    }
  } finally {
    closeSync(file)
  }
}

/** A file of {"step", "data"} lines as the table that `metricsCsv` writes; what is null there is
 * NaN. Damaged lines are skipped. The table is there whole or not at all. Throws where it
 * cannot be written. */
export function tableOfLines(lines: string, table: string, disk: Disk = nodeDisk): void {
  const names = new Map<string, string>()
  for (const { data } of rowsOf(lines)) for (const name of Object.keys(data)) names.set(name, '')
  if (names.size === 0) return
  const unfinished = `${table}${UNFINISHED}`
  try {
    const file = disk.open(unfinished, 'w')
    const write = (row: Parameters<typeof csvTable>[0][number]) =>
      writeWhole(disk, file, Buffer.from(csvTable([row])))
    try {
      write(['step', ...names.keys()])
      for (const { step, data } of rowsOf(lines)) {
        write([
          step,
          ...[...names.keys()].map((name) => (data[name] === null ? Number.NaN : data[name])),
        ])
      }
    } finally {
      disk.close(file)
    }
    disk.rename(unfinished, table)
  } catch (error) {
    attempt(() => disk.remove(unfinished))
    throw error
  }
}

interface Row {
  readonly step: number
  readonly data: Readonly<Record<string, number | null>>
}

/** The steps of a file of {"step", "data"} lines; damaged lines are skipped. */
export function* rowsOf(path: string): Generator<Row> {
  for (const { line } of linesOf(path)) {
    try {
      const row: Partial<Row> | null = JSON.parse(line)
      if (typeof row?.step === 'number' && row.data) yield { step: row.step, data: row.data }
    } catch {
      // Cut short in the middle.
    }
  }
}

/** Keeps the whole lines of a file up to a step; returns the last step that is left, or -1. */
export function cutLines(path: string, step: number): number {
  const { kept, lastStep } = wholeLines(path, step)
  if (existsSync(path) && kept < statSync(path).size) truncateSync(path, kept)
  return lastStep
}

/** The step of the last whole line; -1 where there is none. */
export const lastStep = (path: string): number =>
  wholeLines(path, Number.POSITIVE_INFINITY).lastStep

/** The bytes of a file's lines up to a step, as long as they are whole, and the last of these
 * steps. */
function wholeLines(path: string, step: number): { kept: number; lastStep: number } {
  let [kept, lastStep] = [0, -1]
  for (const { line, end } of existsSync(path) ? linesOf(path) : []) {
    const own = stepOf(line)
    if (own === undefined || own > step) break
    lastStep = own
    kept = end
  }
  return { kept, lastStep }
}

function stepOf(line: string): number | undefined {
  try {
    const step: unknown = JSON.parse(line)?.step
    return typeof step === 'number' ? step : undefined
  } catch {
    return undefined
  }
}
