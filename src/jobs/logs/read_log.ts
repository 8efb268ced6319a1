// Tells the kind of a log by its name and its first bytes, and finds its reader.

import { type ImportedLog, LogError, type LogFile } from './base/imported_log.ts'
import type { Pieces } from './base/lines.ts'
import { CAN_IMPORT } from './base/log_kinds.ts'
import { readGenerationsLog } from './generations_log.ts'
import { readJsonLines, readJsonList } from './json_lines_log.ts'
import { readTensorBoardLog } from './tensorboard_log.ts'
import { readConsoleLog } from './text/console_log.ts'
import { readCsvLog } from './text/csv_log.ts'
import { isConsole, isStepList, isStepTable } from './text/told_by_head.ts'
import { readTrlLog } from './trl_log.ts'

/** What reads a file; a reader tells the kind more exactly. */
export type LogReader =
  | 'lines'
  | 'list'
  | 'trl'
  | 'tensorboard'
  | 'generations'
  | 'console'
  | 'table'

const READERS: Readonly<
  Record<LogReader, (files: readonly LogFile[]) => Promise<readonly ImportedLog[]>>
> = {
  lines: (files) => readJsonLines(joined(files)),
  list: async (files) => [await readJsonList(joined(files))],
  trl: async (files) => [await readTrlLog(joined(files))],
  tensorboard: async (files) => [await readTensorBoardLog(joined(files))],
  generations: async (files) => [await readGenerationsLog(files)],
  console: async (files) => [await readConsoleLog(joined(files))],
  table: (files) => readCsvLog(joined(files)),
}

/** The bytes of all files, one after the other. */
async function* joined(files: readonly LogFile[]): Pieces {
  for (const { pieces } of files) yield* pieces()
}

/** Whether a file is named as verl names the answers of a validation: after its step. */
export const isGenerationsFile = (name: string): boolean => /^\d+\.jsonl$/i.test(name)

/** Bytes of a file that tell its reader: before the first step a console shows how everything was
 * loaded. */
export const HEAD_BYTES = 2 ** 20

/** What may read a file; undefined for one that is no log. `head`: its first HEAD_BYTES. */
export function logReader(name: string, head: Uint8Array): LogReader | undefined {
  if (/tfevents/.test(name)) return 'tensorboard'
  const text = new TextDecoder().decode(head)
  if (isGenerationsFile(name) || /^\s*\{\s*"input"\s*:/.test(text)) return 'generations'
  if (/\.(jsonl|ndjson)$/i.test(name) || /^\s*\{\s*"step"\s*:\s*\d+\s*,\s*"data"\s*:/.test(text))
    return 'lines'
  if (/\.json$/i.test(name))
    return /"(log_history|best_model_checkpoint|best_metric|best_global_step)"/.test(text)
      ? 'trl'
      : isStepList(text)
        ? 'list'
        : undefined
  if (/\.(csv|tsv)$/i.test(name) || isStepTable(text)) return 'table'
  return /\.(log|out|txt|err)$/i.test(name) || isConsole(text) ? 'console' : undefined
}

/** Reads a log, of one file or several: the runs that are in it. Throws LogError with a sentence
 * where it is none. */
export const readLogs = (
  reader: LogReader,
  files: readonly LogFile[],
): Promise<readonly ImportedLog[]> => READERS[reader](files)

/** For a file of another kind. */
export const noLog = (name: string): LogError =>
  new LogError(`${name} is no log that is known here. ${CAN_IMPORT}`)
