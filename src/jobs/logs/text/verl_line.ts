// Reads the lines that verl prints on a console: `step:1 - name:value - name:value`
// (verl/utils/logger/aggregate_logger.py).
import { printedNumber } from './python_literal.ts'

const ESCAPE = String.fromCharCode(27)
/** Colours and cursors of a terminal. The escape sign itself is lost where a text was copied. */
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]|\\[\\d{1,3}(?:;\\d{1,3})*m`, 'g')
/** What Ray prints before a line of a process, e.g. `(TaskRunner pid=4711, ip=10.0.0.1) `. */
const PROCESS = /^\s*\([^()]*\bpid=\d+[^()]*\)\s?/
/** What Ray adds to a line that it shows once for many. */
const REPEATED = /\s*\[repeated \d+x across cluster\].*$/
const STEP = /(?<![\w/.@-])step:\s*(\d+)(?=\s+-(?:\s|$)|\s*$)/

/** A line without colours and without what says which process printed it. */
export const plainLine = (text: string): string =>
  text.replaceAll(COLOURS, '').replace(PROCESS, '').replace(REPEATED, '')

/** A step and what was printed of it. */
export interface VerlLine {
  readonly step: number
  readonly metrics: readonly (readonly [name: string, value: number])[]
  /** Parts that are no `name:value`. */
  readonly unread: readonly string[]
}

const VALUE = String.raw`[-+]?(?:\d[\d_]*\.?\d*(?:e[-+]?\d+)?|inf|nan)|True|False|[A-Za-z_][\w.]*\([^()]*\)`
const PART = new RegExp(`^(.+):(${VALUE})\\s*$`, 'is')
/** At the end of a line a progress bar may follow without a space. */
const LAST_PART = new RegExp(`^(.+?):(${VALUE})`, 'is')

function partOf(text: string, pattern: RegExp): readonly [string, number] | undefined {
  const [, name, value] = pattern.exec(text) ?? []
  const number = value === undefined ? undefined : printedNumber(value)
  return number === undefined ? undefined : [name.trim(), number]
}

/** Reads a plain line; undefined where it is none of verl's. */
export function verlLine(text: string): VerlLine | undefined {
  const found = STEP.exec(text)
  if (!found) return undefined
  const rest = text.slice(found.index + found[0].length).replace(/^\s*-\s*/, '')
  const metrics: (readonly [string, number])[] = []
  const unread: string[] = []
  let open = ''
  const parts = rest.split(/\s+-\s+/)
  for (const [i, text] of parts.entries()) {
    const whole = open === '' ? text : `${open} - ${text}`
    const isLast = i === parts.length - 1
    const part = partOf(whole, PART) ?? (isLast ? partOf(whole, LAST_PART) : undefined)
    if (part) {
      metrics.push(part)
      open = ''
      // A name may hold the separator, so a part without a number waits for the next.
    } else open = whole.trim()
  }
  if (open !== '') unread.push(open)
  return { step: Number(found[1]), metrics, unread }
}

/** Whether a plain line continues one that a terminal or Ray broke; how it is to be added, or
 * undefined. */
export function continued(before: string, next: string): string | undefined {
  if (next.trim() === '' || STEP.test(next)) return undefined
  const endsOpen = /\s-\s*$/.test(before)
  if (/^\s*-\s/.test(next)) return `${before.trimEnd()} ${next.trimStart()}`
  const beginsPart = /^\s*[^\s:]+:(?:[-+]?[\d.]|nan|inf|np\.|True|False)/.test(next)
  if (endsOpen) return beginsPart ? `${before.trimEnd()} ${next.trimStart()}` : undefined
  // Broken inside a part: what follows has further parts, or ends the name that was begun.
  const hasParts = /^\S*\s+-\s+\S+:\S/.test(next)
  const line = verlLine(before)
  const isOpen = line !== undefined && line.unread.length > 0
  return hasParts || (isOpen && /^\S*:\S+\s*$/.test(next)) ? before + next.trimStart() : undefined
}
