// Reads lines of a stream of bytes, one at a time, and JSON as Python writes it.

/** The pieces of a file, in order. */
export type Pieces = AsyncIterable<Uint8Array>

/** Characters of a line at most: far above any step's metrics, far below what would hold up the
 * page. */
const LONGEST_LINE = 4_000_000

export interface Line {
  readonly text: string
  /** Counted from 1. */
  readonly number: number
  /** Nothing ends it: the last line of a file that was cut off, or whole. */
  readonly isLast: boolean
}

/** Lines without their ends, empty ones left out. A line beyond LONGEST_LINE comes as one without
 * text. */
export async function* linesOf(pieces: Pieces): AsyncGenerator<Line> {
  const decoder = new TextDecoder()
  let rest = ''
  let number = 0
  let isLong = false
  const line = (text: string, isLast: boolean): Line => {
    const found = { text: isLong ? '' : text.replace(/\r$/, ''), number, isLast }
    isLong = false
    return found
  }
  for await (const piece of pieces) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      number++
      if (part.trim() !== '' || isLong) yield line(part, false)
    }
    if (rest.length > LONGEST_LINE) {
      isLong = true
      rest = ''
    }
  }
  number++
  rest += decoder.decode()
  if (rest.trim() !== '' || isLong) yield line(rest, true)
}

/** A text, or a number that JSON has not. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g

/** JSON as Python's json.dumps writes it: NaN becomes Infinity, which says as much of a value.
 * Undefined for text that is none. */
export function parsePython(text: string): unknown {
  for (const attempt of [
    () => text,
    () =>
      text.replace(TEXT_OR_NUMBER, (found) =>
        found.startsWith('"') ? found : found.startsWith('-') ? '-1e999' : '1e999',
      ),
  ])
    try {
      return JSON.parse(attempt())
    } catch {
      // The next attempt, or none.
    }
  return undefined
}

/** A number; undefined for what is none, such as null, which stands for a value that is missing. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' ? value : undefined
}
