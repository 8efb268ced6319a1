// Reads TRL's log: the list log_history of a trainer_state.json, entry by entry, so that a large
// file is never whole in memory.

import { isObject } from '../../formats/json.ts'
import { Entries } from './base/entries.ts'
import { type ImportedLog, isStep, LogRows } from './base/imported_log.ts'
import { type Pieces, parsePython } from './base/lines.ts'
import { loggedNumber } from './text/step_column.ts'

const LIST = /"log_history"\s*:\s*\[/

/** Throws LogError where there is no entry. */
export async function readTrlLog(pieces: Pieces): Promise<ImportedLog> {
  const rows = new LogRows()
  const entries = new Entries(LIST)
  const decoder = new TextDecoder()
  let count = 0
  const take = (texts: readonly string[]) => {
    for (const text of texts) putEntry(rows, text, ++count)
  }
  for await (const piece of pieces) take(entries.push(decoder.decode(piece, { stream: true })))
  take(entries.push(decoder.decode()))
  if (entries.is_open) rows.cut()
  return rows.finish('trl')
}

function putEntry(rows: LogRows, text: string, count: number): void {
  const entry = parsePython(text)
  if (!isObject(entry) || !isStep(entry.step)) return rows.skip(`entry ${count} of log_history`)
  // The last entry sums the whole training up.
  if ('train_runtime' in entry) return
  for (const [name, value] of Object.entries(entry)) {
    const found = name === 'step' ? undefined : loggedNumber(value)
    if (found === undefined) continue
    rows.putTrl(name, entry.step, found)
  }
}
