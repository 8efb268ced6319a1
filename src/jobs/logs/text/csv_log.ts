// Reads tables with a column of steps: any CSV, and what Weights & Biases exports of a chart, where
// a column is a metric of a run.

import { csvRecords } from '../../../tasks/data/readers/csv.ts'
import { DataFileError } from '../../../tasks/data/table/data_file.ts'
import { type ImportedLog, LogError, LogRows } from '../base/imported_log.ts'
import type { Pieces } from '../base/lines.ts'
import { loggedNumber, lookedForSteps, stepColumn, stepOf } from './step_column.ts'

/** Characters of a table: it is held whole. */
const LONGEST_TABLE = 200_000_000

interface Column {
  readonly index: number
  /** '' where the table is of one run. */
  readonly run: string
  readonly metric: string
}

/** The columns beside the steps. Those of an export are called `run - metric`, every one of
 * them. */
function columnsOf(head: readonly string[], step: number): Column[] {
  const others = head.flatMap((name, index) =>
    index === step ? [] : [{ index, name: name.trim() }],
  )
  const isExport = others.length > 0 && others.every(({ name }) => name.includes(' - '))
  return others.map(({ index, name }) => {
    const at = isExport ? name.lastIndexOf(' - ') : -1
    return {
      index,
      run: at < 0 ? '' : name.slice(0, at),
      metric: (at < 0 ? name : name.slice(at + 3)) || `column_${index + 1}`,
    }
  })
}

const BOUND = /__(MIN|MAX)$/

/** Lowest and highest values of a bin that say no more than the metric itself. */
function isRepeated(
  column: Column,
  columns: readonly Column[],
  records: readonly Fields[],
): boolean {
  if (!BOUND.test(column.metric)) return false
  const metric = column.metric.replace(BOUND, '')
  const whole = columns.find((other) => other.run === column.run && other.metric === metric)
  return (
    whole !== undefined &&
    records.every(({ fields }) => fields[column.index] === fields[whole.index])
  )
}

const hasNumber = ({ index }: Column, records: readonly Fields[]): boolean =>
  records.some(({ fields }) => loggedNumber(fields[index]?.trim() ?? '') !== undefined)

interface Fields {
  readonly fields: readonly string[]
  readonly line: number
}

async function textOf(pieces: Pieces): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > LONGEST_TABLE)
      throw new LogError(`The table has more than ${LONGEST_TABLE} characters; take a part of it.`)
  }
  return text + decoder.decode()
}

/** The records of a table. Throws LogError where it is none. */
function recordsIn(text: string, rows: LogRows): readonly Fields[] {
  try {
    const onBadRow = (message: string) => rows.skip(message)
    return csvRecords(text, 'the table', { onBadRow })
  } catch (error) {
    if (error instanceof DataFileError) throw new LogError(error.message)
    throw error
  }
}

/** A log for each run that the table has. Throws LogError where no column counts the steps. */
export async function readCsvLog(pieces: Pieces): Promise<readonly ImportedLog[]> {
  const unread = new LogRows()
  const [head, ...records] = recordsIn(await textOf(pieces), unread)
  const step = head && stepColumn(head.fields)
  if (step === undefined) throw new LogError(lookedForSteps(head?.fields ?? []))
  const index = head.fields.indexOf(step)
  const columns = columnsOf(head.fields, index)
  const runs = [...new Set(columns.map(({ run }) => run))]
  const logs = runs.flatMap((run) => {
    const own = columns.filter((column) => column.run === run)
    return readRun(run, own, records, index) ?? []
  })
  if (logs.length === 0)
    throw new LogError('The table has a column of steps and no number beside it.')
  return logs
}

/** The columns of one run; undefined where they are empty. */
function readRun(
  run: string,
  columns: readonly Column[],
  records: readonly Fields[],
  stepIndex: number,
): ImportedLog | undefined {
  const rows = new LogRows()
  const repeated = columns.filter((column) => isRepeated(column, columns, records))
  const read = columns.filter((column) => !repeated.includes(column))
  const texts = new Set<string>()
  const numeric = new Set(read.filter((column) => hasNumber(column, records)))
  let count = 0
  for (const { fields, line } of records) {
    const step = stepOf(fields[stepIndex])
    if (step === undefined) {
      rows.skip(`line ${line} (its step is “${fields[stepIndex]?.slice(0, 20) ?? ''}”)`)
      continue
    }
    for (const column of read) {
      const { index, metric } = column
      const text = fields[index]?.trim() ?? ''
      if (text === '') continue
      const value = loggedNumber(text)
      if (value === undefined) {
        if (numeric.has(column)) rows.putWords(metric, step)
        else texts.add(metric)
        rows.text(metric, text)
      } else {
        rows.put(metric, step, value)
        count++
      }
    }
  }
  if (count === 0) return undefined
  if (repeated.length > 0)
    rows.remark('The columns __MIN and __MAX repeat their metric and were left out.')
  rows.notNumbers(texts)
  return rows.finish(run === '' && columns.length > 0 ? 'csv' : 'wandb', run)
}
