// Reads TRL's log: the list log_history of a trainer_state.json, entry by entry, so that a large
// file is never whole in memory.

import { isObject } from '../../formats/json.ts'
import { type ImportedLog, isStep, LogRows } from './base/imported_log.ts'
import { type Pieces, parsePython } from './base/lines.ts'
import { loggedNumber } from './text/step_column.ts'

const LIST = /"log_history"\s*:\s*\[/
/** Characters that are looked through for the list at a time. */
const LONGEST_ENTRY = 4_000_000

/** Throws LogError where there is no entry. */
export async function readTrlLog(pieces: Pieces): Promise<ImportedLog> {
  const rows = new LogRows()
  const entries = new Entries()
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

/** Cuts the objects of the list out of a text that comes in pieces. */
class Entries {
  #text = ''
  #at = 0
  #depth = 0
  #start = 0
  #inText = false
  #state: 'before' | 'in' | 'after' = 'before'

  /** Whether the text has ended inside the list. */
  get is_open(): boolean {
    return this.#state === 'in'
  }

  /** The objects that end in this piece. */
  push(piece: string): string[] {
    if (this.#state === 'after') return []
    this.#text += piece
    if (this.#state === 'before' && !this.#findList()) return []
    const found: string[] = []
    for (; this.#at < this.#text.length && this.#state === 'in'; this.#at++) this.#step(found)
    this.#forget()
    return found
  }

  #findList(): boolean {
    const list = LIST.exec(this.#text)
    if (list) {
      this.#state = 'in'
      this.#at = list.index + list[0].length
    } else this.#text = this.#text.slice(-64)
    return list !== null
  }

  #step(found: string[]): void {
    const character = this.#text[this.#at]
    if (this.#inText) {
      if (character === '\\') this.#at++
      else if (character === '"') this.#inText = false
    } else if (character === '"') this.#inText = true
    else if (character === '{' || character === '[') {
      if (this.#depth++ === 0) this.#start = this.#at
    } else if (character === '}' || character === ']') {
      if (this.#depth === 0) this.#state = 'after'
      else if (--this.#depth === 0) found.push(this.#text.slice(this.#start, this.#at + 1))
    }
  }

  /** Lets go of what was looked through, but for an object that has not ended. */
  #forget(): void {
    const keep = this.#depth > 0 ? this.#start : Math.min(this.#at, this.#text.length)
    if (this.#text.length - keep > LONGEST_ENTRY) this.#state = 'after'
    this.#text = this.#text.slice(keep)
    this.#at -= keep
    this.#start -= keep
  }
}
