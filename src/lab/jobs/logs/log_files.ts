// Which files of a folder are its log, by their names.
import { CAN_IMPORT } from './can_import.ts'
import { LogError } from './imported_log.ts'
import { isGenerationsFile } from './read_log.ts'

/** What a folder of a run, or of a checkpoint of TRL, holds its log in. */
const LOG_NAMES = ['metrics.jsonl', 'trainer_state.json']

/**
 * The files of `folder` that belong together: a log, all validations of verl, or all event files of TensorBoard, of which a run that was
 * resumed has one for every start; their names begin with the time. Throws LogError where there is none.
 */
export function logFiles(all: readonly string[], folder: string): string[] {
  const log = LOG_NAMES.find((name) => all.includes(name))
  if (log) return [log]
  const generations = all.filter(isGenerationsFile)
  if (generations.length > 0) return generations
  const events = all.filter((name) => name.includes('tfevents'))
  if (events.length === 0) throw new LogError(`${folder}: there is no log in it. ${CAN_IMPORT}`)
  return events.sort()
}
