// Which kind of log a file is, by its name and its first bytes, and its reader.
import { CAN_IMPORT } from './can_import.ts'
import { readGenerationsLog } from './generations_log.ts'
import { type ImportedLog, LogError, type LogFile, type LogKind } from './imported_log.ts'
import type { Pieces } from './lines.ts'
import { readTensorBoardLog } from './tensorboard_log.ts'
import { readTrlLog } from './trl_log.ts'
import { readVerlLog } from './verl_log.ts'

const READERS: Readonly<Record<LogKind, (files: readonly LogFile[]) => Promise<ImportedLog>>> = {
  verl: (files) => readVerlLog(joined(files)),
  trl: (files) => readTrlLog(joined(files)),
  tensorboard: (files) => readTensorBoardLog(joined(files)),
  generations: readGenerationsLog,
}

/** The bytes of all files, one after the other. */
async function* joined(files: readonly LogFile[]): Pieces {
  for (const { pieces } of files) yield* pieces()
}

/** Whether a file is named as verl names the answers of a validation: after its step. */
export const isGenerationsFile = (name: string): boolean => /^\d+\.jsonl$/i.test(name)

/** Bytes of a file that tell its kind. */
export const HEAD_BYTES = 4096

/** The kind of log that a file may be; undefined for another file. `head`: its first HEAD_BYTES. */
export function logKind(name: string, head: Uint8Array): LogKind | undefined {
  if (/tfevents/.test(name)) return 'tensorboard'
  const text = new TextDecoder().decode(head)
  if (isGenerationsFile(name) || /^\s*\{\s*"input"\s*:/.test(text)) return 'generations'
  if (/\.jsonl$/i.test(name) || /^\s*\{\s*"step"\s*:\s*\d+\s*,\s*"data"\s*:/.test(text))
    return 'verl'
  const is_trl = /"(log_history|best_model_checkpoint|best_metric|best_global_step)"/.test(text)
  return /\.json$/i.test(name) && is_trl ? 'trl' : undefined
}

/** Reads a log of that kind, of one file or several. Throws LogError with a sentence where it is none. */
export const readLog = (kind: LogKind, files: readonly LogFile[]): Promise<ImportedLog> =>
  READERS[kind](files)

/** For a file of another kind. */
export const noLog = (name: string): LogError =>
  new LogError(`${name} is no log that is known here. ${CAN_IMPORT}`)
