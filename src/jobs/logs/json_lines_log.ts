// Reads JSON lines: verl's file logger, {"step": 1, "data": {metric: value}}, and the lab's own
// metrics.jsonl, which is written like it; imported runs, which may have answers to held-out
// prompts; and any other lines with a column of steps, or one list of them.

import { isObject } from '../../formats/json.ts'
import { Entries } from './base/entries.ts'
import { type ImportedLog, isStep, LogError, LogRows } from './base/imported_log.ts'
import { linesOf, numberOf, type Pieces, parsePython } from './base/lines.ts'
import { generationOf, isGeneration } from './generations_log.ts'
import { isHead } from './run_file.ts'
import { flattened, loggedNumber, lookedForSteps, stepColumn, stepOf } from './text/step_column.ts'
import { WHOLE_LIST } from './text/told_by_head.ts'

/** What no other trainer measures, by the name that the lab gives it. */
const LABS = /^layer\/entropy\/\d+$/

/** Of a log whose every value is missing. */
const nothingBeside = (names: readonly string[]) =>
  `It counts steps, but has no number beside them: null is all that it has for ${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''}.`
/** Columns that a sentence names. */
const MOST_NAMED = 8

/** The lines of one run. */
class Lines {
  readonly rows = new LogRows()
  readonly #texts = new Set<string>()
  readonly #empty = new Set<string>()
  #names: readonly string[] = []
  /** The column of the steps, where lines are no verl's. */
  #step: string | undefined
  /** Whose file logger it is, where its lines are written so. */
  #logger: 'verl' | 'lab' | undefined

  readonly run: string

  constructor(run = '') {
    this.run = run
  }

  /** Takes a line; false where it is none of a log. */
  take(line: unknown): boolean {
    if (!isObject(line)) return false
    if (isStep(line.step) && isObject(line.data)) {
      this.#logger ??= 'verl'
      for (const [name, value] of Object.entries(line.data)) {
        // The lab writes null for what is not finite.
        const found = value === null ? null : numberOf(value)
        if (LABS.test(name)) this.#logger = 'lab'
        if (found !== undefined) this.rows.put(name, line.step, found)
      }
      return true
    }
    if (isGeneration(line) && isStep(line.step) && typeof line.score === 'number') {
      this.rows.keep(line.step, generationOf(line, line.score))
      return true
    }
    return this.#takeFlat(flattened(line))
  }

  #takeFlat(values: readonly (readonly [name: string, value: unknown])[]): boolean {
    const names = values.map(([name]) => name)
    if (this.#names.length === 0) this.#names = names
    this.#step ??= stepColumn(names)
    const step = stepOf(values.find(([name]) => name === this.#step)?.[1])
    if (step === undefined) return false
    for (const [name, value] of values) {
      if (name === this.#step) continue
      const number = loggedNumber(value)
      if (number === undefined) {
        if (value === null) this.#empty.add(name)
        else if (this.rows.has(name)) this.rows.putWords(name, step)
        else this.#texts.add(name)
        this.rows.text(name, value)
      } else this.rows.put(name, step, number)
    }
    return true
  }

  finish(): ImportedLog {
    this.rows.notNumbers(this.#texts)
    if (this.rows.isEmpty && this.#step !== undefined && this.#empty.size > 0)
      throw new LogError(nothingBeside([...this.#empty]))
    if (this.#logger || this.#step !== undefined || this.rows.isTold)
      return this.rows.finish(
        this.#step === undefined ? (this.#logger ?? 'verl') : 'json_lines',
        this.run,
      )
    if (this.#names.length > 0) throw new LogError(lookedForSteps(this.#names))
    return this.rows.finish('verl', this.run)
  }
}

/** A log for each run that the file holds: more than one only in a file of the lab's. Throws
 * LogError where no line is of a log. */
export async function readJsonLines(pieces: Pieces): Promise<readonly ImportedLog[]> {
  const logs: ImportedLog[] = []
  let lines = new Lines()
  let isFirst = true
  for await (const { text, number, isLast } of linesOf(pieces)) {
    const line = parsePython(text)
    if (isHead(line) && (isFirst || lines.rows.isTold)) {
      if (!isFirst) logs.push(lines.finish())
      lines = new Lines(line.run ?? '')
      lines.rows.tell(line)
      lines.rows.text('group', line.group)
    } else if (!lines.take(line)) {
      if (isLast && line === undefined) lines.rows.cut()
      else
        lines.rows.skip(`line ${number}${line === undefined && text !== '' ? ' (not JSON)' : ''}`)
    }
    isFirst = false
  }
  return [...logs, lines.finish()]
}

/** The log of a list of rows. Throws LogError where none of them is of a log. */
export async function readJsonList(pieces: Pieces): Promise<ImportedLog> {
  const lines = new Lines()
  const entries = new Entries(WHOLE_LIST)
  const decoder = new TextDecoder()
  let count = 0
  const take = (texts: readonly string[]) => {
    for (const text of texts) {
      count++
      if (!lines.take(parsePython(text))) lines.rows.skip(`row ${count}`)
    }
  }
  for await (const piece of pieces) take(entries.push(decoder.decode(piece, { stream: true })))
  take(entries.push(decoder.decode()))
  if (entries.is_open) lines.rows.cut()
  return lines.finish()
}
