// Files of lines that may be longer than memory: read piece by piece.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { cell } from '../lab/metrics_file.ts'

const PIECE_BYTES = 2 ** 20

/** The whole lines of a file, without their ends, and the byte after each; what follows the last end of line is none. */
export function* linesOf(path: string): Generator<{ readonly line: string; readonly end: number }> {
  const file = openSync(path, 'r')
  try {
    const piece = Buffer.alloc(PIECE_BYTES)
    const decoder = new StringDecoder('utf8')
    let [open, at] = ['', 0]
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      let from = 0
      for (let to = piece.indexOf(10); to >= 0 && to < read; to = piece.indexOf(10, from)) {
        const line = open + decoder.write(piece.subarray(from, to)) + decoder.end()
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

/** A file of {"step", "data"} lines as the table that `metricsCsv` writes; what is null there is NaN. Lines that are none are passed over. */
export function tableOfLines(lines: string, table: string): void {
  const names = new Map<string, string>()
  for (const { data } of rowsOf(lines)) for (const name of Object.keys(data)) names.set(name, '')
  if (names.size === 0) return
  const file = openSync(table, 'w')
  try {
    writeSync(file, `${['step', ...[...names.keys()].map(cell)].join()}\n`)
    for (const { step, data } of rowsOf(lines)) {
      const values = [...names.keys()].map((name) => (data[name] === null ? 'NaN' : data[name]))
      writeSync(file, `${[step, ...values].join()}\n`)
    }
  } finally {
    closeSync(file)
  }
}

interface Row {
  readonly step: number
  readonly data: Readonly<Record<string, number | null>>
}

/** The steps of a file of {"step", "data"} lines; lines that are none are passed over. */
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
