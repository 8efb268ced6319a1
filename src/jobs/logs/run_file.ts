// Writes imported runs as one file: of each a line that says what it is, then the lines of verl's
// file logger under the lab's names, and those of verl's validation generations.

import { isObject } from '../../formats/json.ts'
import { metricsJsonl } from '../../record/files/metrics_file.ts'
import { type ImportedLog, isStep } from './base/imported_log.ts'
import { LOG_KINDS, type LogKind } from './base/log_kinds.ts'

const VERSION = 1
/** What a stranger's file may say. */
const MAX_REMARKS = 20
const MAX_REMARK = 400
const MAX_RUN = 200

/** The first line. */
interface Head {
  readonly imported_run: typeof VERSION
  readonly kind: LogKind
  /** Its name, where the file or folder that it came from had several. */
  readonly run?: string
  /** What a column of it called the runs of its setting. */
  readonly group?: string
  readonly remarks: readonly string[]
  /** By the lab's name what the log called a metric. */
  readonly names?: Readonly<Record<string, string>>
  /** Steps that its trainer was to take. */
  readonly planned?: number
}

const isName = (name: unknown): boolean =>
  name === undefined || (typeof name === 'string' && name.length <= MAX_RUN)

const areNames = (names: unknown): boolean =>
  names === undefined || (isObject(names) && Object.values(names).every(isName))

/** Whether a parsed line is the first one of such a file. */
export const isHead = (line: unknown): line is Head =>
  isObject(line) &&
  line.imported_run === VERSION &&
  typeof line.kind === 'string' &&
  Object.hasOwn(LOG_KINDS, line.kind) &&
  isName(line.run) &&
  isName(line.group) &&
  areNames(line.names) &&
  (line.planned === undefined || isStep(line.planned)) &&
  Array.isArray(line.remarks) &&
  line.remarks.length <= MAX_REMARKS &&
  line.remarks.every((remark) => typeof remark === 'string' && remark.length <= MAX_REMARK)

/** The file's text: the runs one after the other. */
export const importedRunsText = (logs: readonly ImportedLog[]): string =>
  logs.map(importedRunText).join('')

function importedRunText(log: ImportedLog): string {
  const { kind, run, group, remarks, series, names, planned, generations } = log
  const head: Head = {
    imported_run: VERSION,
    kind,
    ...(run !== '' && { run }),
    ...(group !== undefined && { group }),
    remarks,
    ...(names.size > 0 && { names: Object.fromEntries(names) }),
    ...(planned !== undefined && { planned }),
  }
  const answers = generations.flatMap(({ step, item }) =>
    item.map((answer) => `${JSON.stringify({ ...answer, step })}\n`),
  )
  return `${JSON.stringify(head)}\n${metricsJsonl(series)}${answers.join('')}`
}
