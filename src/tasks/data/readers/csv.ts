// Reads values with commas (RFC 4180), semicolons or tabs between them: quotes, quotes in quotes,
// and ends of lines inside of them.
import type { Reading } from '../table/bad_rows.ts'
import { DataFileError } from '../table/data_file.ts'
import { refuseColumns, refuseRows, type Table } from '../table/table.ts'
import type { Reader } from './reader.ts'

/** The fields of a record. */
export interface CsvRecord {
  readonly fields: readonly string[]
  /** The line on which it begins, from 1. */
  readonly line: number
}

/** A file's separator is the one that is most frequent outside quotes in its first line. */
const SEPARATORS = [',', '\t', ';'] as const

function separatorOf(text: string): string {
  const counts = new Map<string, number>(SEPARATORS.map((one) => [one, 0]))
  let isQuoted = false
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === '\n' && !isQuoted) break
    else if (!isQuoted) {
      const count = counts.get(character)
      if (count !== undefined) counts.set(character, count + 1)
    }
  }
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0]
}

/** Lines between two words on how far it is. */
const SOME_LINES = 4096

/** Every record; an empty line is none. */
export function csvRecords(
  text: string,
  file: string,
  { onBadRow, onProgress }: Reading,
): CsvRecord[] {
  const separator = separatorOf(text)
  const records: CsvRecord[] = []
  let at = 0
  let line = 1
  while (at < text.length) {
    const begins = line
    const fields: string[] = []
    for (;;) {
      const field = text[at] === '"' ? quoted(text, at, file, line) : bare(text, at, separator)
      fields.push(field.value)
      line += field.lines
      at = field.end
      if (text[at] !== separator) break
      at++
    }
    if (text[at] === '\r') at++
    const isBroken = at < text.length && text[at] !== '\n'
    if (isBroken) {
      onBadRow(
        `${file}: line ${line}, column ${fields.length}: expected the end of the field after its quote`,
      )
      while (at < text.length && text[at] !== '\n') at++
    }
    at++
    if (++line % SOME_LINES === 0) onProgress?.(at / text.length)
    if (isBroken) continue
    if (fields.length > 1 || fields[0] !== '') records.push({ fields, line: begins })
    refuseRows(file, records.length - 1)
  }
  return records
}

interface Field {
  readonly value: string
  /** Index after it. */
  readonly end: number
  /** Ends of lines inside. */
  readonly lines: number
}

function bare(text: string, start: number, separator: string): Field {
  let end = start
  while (end < text.length && text[end] !== separator && text[end] !== '\n') end++
  const stop = text[end - 1] === '\r' && end > start && text[end] !== separator ? end - 1 : end
  return { value: text.slice(start, stop), end: stop, lines: 0 }
}

function quoted(text: string, start: number, file: string, line: number): Field {
  let end = start + 1
  for (;;) {
    end = text.indexOf('"', end)
    if (end < 0)
      throw new DataFileError(`${file}: line ${line}: a quote is opened here and never closed`)
    if (text[end + 1] !== '"') break
    end += 2
  }
  const value = text.slice(start + 1, end).replaceAll('""', '"')
  return { value, end: end + 1, lines: value.split('\n').length - 1 }
}

/** Whether the first record names columns. Where none of its fields has a letter, as in `3+4=,7`,
 * it is a row. */
const isHead = ({ fields }: CsvRecord) => fields.some((field) => /\p{L}/u.test(field))

function readText(text: string, file: string, reading: Reading): Table {
  const records = csvRecords(text, file, reading)
  const [first] = records
  if (!first) return { columns: [], rows: [], notes: [], placeOf: () => '' }
  const hasHead = isHead(first)
  const columns = first.fields.map((name, i) =>
    hasHead && name.trim() !== '' ? name.trim() : `column_${i + 1}`,
  )
  refuseColumns(file, columns.length)
  const twice = columns.findIndex((name, i) => columns.indexOf(name) !== i)
  if (twice >= 0)
    throw new DataFileError(
      `${file}: line 1, column ${twice + 1}: expected another name for each column, found '${columns[twice]}' twice`,
    )
  const rows = (hasHead ? records.slice(1) : records).filter(({ fields, line }) => {
    const isWhole = fields.length === columns.length
    if (!isWhole)
      reading.onBadRow(
        `${file}: line ${line}: expected ${columns.length} fields as in the first line, found ${fields.length}`,
      )
    return isWhole
  })
  return {
    columns,
    rows: rows.map(({ fields }) => fields),
    notes: hasHead
      ? []
      : ['The first line has no letters, so it is taken as a row and the columns are numbered.'],
    placeOf: (row) => `line ${rows[row].line}`,
  }
}

export const csv: Reader = { extensions: ['csv', 'tsv'], readText }
