// An imported run as one file: a line that says what it is, then the lines of verl's file logger under the lab's names, and those of
// verl's validation generations.
import { metricsJsonl } from '../../runs/files/metrics_file.ts'
import { type ImportedLog, LOG_KINDS, type LogKind } from './imported_log.ts'
import { isRecord } from './lines.ts'

const VERSION = 1
/** What a stranger's file may say. */
const MAX_REMARKS = 20
const MAX_REMARK = 400

/** The first line. */
interface Head {
  readonly imported_run: typeof VERSION
  readonly kind: LogKind
  readonly remarks: readonly string[]
}

/** Whether a parsed line is the first one of such a file. */
export const isHead = (line: unknown): line is Head =>
  isRecord(line) &&
  line.imported_run === VERSION &&
  typeof line.kind === 'string' &&
  Object.hasOwn(LOG_KINDS, line.kind) &&
  Array.isArray(line.remarks) &&
  line.remarks.length <= MAX_REMARKS &&
  line.remarks.every((remark) => typeof remark === 'string' && remark.length <= MAX_REMARK)

/** The file's text. */
export function importedRunText({ kind, remarks, series, generations }: ImportedLog): string {
  const head: Head = { imported_run: VERSION, kind, remarks }
  const answers = generations.flatMap(({ step, item }) =>
    item.map((answer) => `${JSON.stringify({ ...answer, step })}\n`),
  )
  return `${JSON.stringify(head)}\n${metricsJsonl(series)}${answers.join('')}`
}
