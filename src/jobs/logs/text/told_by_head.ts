// Tells from the first bytes of a text whether it is a log or rows to train on. The page asks this
// before it loads a reader.

import { isObject } from '../../../formats/json.ts'
import { Entries } from '../base/entries.ts'
import { parsePython } from '../base/lines.ts'
import { flattened, loggedNumber, stepColumn } from './step_column.ts'

/** verl's lines, behind any prefix. */
const VERL_LINE = /(?<![\w/.@-])step:\s*\d+\s+-\s+[^\s:]+:\S/
/** A dict of transformers or TRL. */
const TRL_LINE =
  /\{['"](?:[^{}\n]*['"])?(?:epoch|loss|train_loss|train_runtime|eval_\w+)['"]:\s*['"]?(?:[-+]?[\d.]|nan|inf|np\.)/

/** Whether a text has a line of verl or an entry of TRL. */
export const isConsole = (head: string): boolean => VERL_LINE.test(head) || TRL_LINE.test(head)

/** Columns by which rows to train on are known, whatever else they have. */
const OF_ROWS =
  /^(prompt|question|problem|query|instruction|input|text|messages|conversations?|chosen|rejected|completion|response|answer|output|target|solution)$/i

/** Whether named values are a row of a log: a step, or a loss, which its reader then says has no
 * step; and numbers more than anything else, or nothing yet beside the step. */
function isLogRow(values: readonly (readonly [name: string, value: unknown])[]): boolean {
  const names = values.map(([name]) => name)
  const step = stepColumn(names)
  if (step === undefined && !names.includes('loss')) return false
  if (names.some((name) => OF_ROWS.test(name))) return false
  const filled = values.filter(([, value]) => value !== '' && value !== null)
  if (filled.length === 1 && values.length > 1 && filled[0][0] === step)
    return loggedNumber(filled[0][1]) !== undefined
  const numbers = filled.filter(([, value]) => loggedNumber(value) !== undefined).length
  return numbers > 1 && 2 * numbers > filled.length
}

const cellsOf = (line: string): string[] =>
  line.split(/,|;|\t/).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'))

/** Whether a text begins as a table of a log: names, one of them of steps, and numbers below. */
export function isStepTable(head: string): boolean {
  const [names = '', first = ''] = head.split(/\r?\n/, 2)
  const [columns, cells] = [cellsOf(names), cellsOf(first)]
  if (columns.length < 2 || columns.length > cells.length) return false
  return isLogRow(columns.map((name, i) => [name, cells[i]]))
}

/** Lines that are looked at: a file may begin with a line about itself. */
const MOST_LINES = 5
/** Characters of a list that are looked through for them. */
const LONGEST_HEAD = 100_000

/** Whether one of the first texts is a line of a log, as JSON. */
const areSteps = (lines: readonly string[]): boolean =>
  lines
    .slice(0, MOST_LINES)
    .map(parsePython)
    .some((line) => {
      if (!isObject(line)) return false
      if (typeof line.step === 'number' && isObject(line.data)) return true
      return line.imported_run !== undefined || isLogRow(flattened(line))
    })

/** What begins JSON that is one list, as pandas writes a table. */
export const WHOLE_LIST = /^\s*\[/

/** Whether a text begins as a list of rows of a log. */
export const isStepList = (head: string): boolean =>
  areSteps(new Entries(WHOLE_LIST).push(head.slice(0, LONGEST_HEAD)))

/** Whether a file is a log, by its name and its first bytes, though its kind of file may hold rows
 * to train on too. */
export function isLogFile(name: string, head: string): boolean {
  if (/\.(csv|tsv)$/i.test(name)) return isStepTable(head)
  if (/\.(jsonl|ndjson)$/i.test(name)) return areSteps(head.split('\n', MOST_LINES))
  if (/\.json$/i.test(name)) return isStepList(head)
  return /\.(txt|text|md)$/i.test(name) && isConsole(head)
}
