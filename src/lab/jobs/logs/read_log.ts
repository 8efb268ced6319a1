// Which kind of log a file is, by its name and its first bytes, and its reader.
import { CAN_IMPORT } from './can_import.ts'
import { type ImportedLog, LogError, type LogKind } from './imported_log.ts'
import type { Pieces } from './lines.ts'
import { readTensorBoardLog } from './tensorboard_log.ts'
import { readTrlLog } from './trl_log.ts'
import { readVerlLog } from './verl_log.ts'

const READERS: Readonly<Record<LogKind, (pieces: Pieces) => Promise<ImportedLog>>> = {
  verl: readVerlLog,
  trl: readTrlLog,
  tensorboard: readTensorBoardLog,
}

/** Bytes of a file that tell its kind. */
export const HEAD_BYTES = 4096

/** The kind of log that a file may be; undefined for another file. `head`: its first HEAD_BYTES. */
export function logKind(name: string, head: Uint8Array): LogKind | undefined {
  if (/tfevents/.test(name)) return 'tensorboard'
  const text = new TextDecoder().decode(head)
  if (/\.jsonl$/i.test(name) || /^\s*\{\s*"step"\s*:\s*\d+\s*,\s*"data"\s*:/.test(text))
    return 'verl'
  const is_trl = /"(log_history|best_model_checkpoint|best_metric|best_global_step)"/.test(text)
  return /\.json$/i.test(name) && is_trl ? 'trl' : undefined
}

/** Reads a log of that kind. Throws LogError with a sentence where it is none. */
export const readLog = (kind: LogKind, pieces: Pieces): Promise<ImportedLog> =>
  READERS[kind](pieces)

/** For a file of another kind. */
export const noLog = (name: string): LogError =>
  new LogError(`${name} is no log that is known here. ${CAN_IMPORT}`)
