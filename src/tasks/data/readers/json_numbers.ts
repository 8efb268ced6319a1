// Reads JSON with the digits that its text has: a number that JavaScript would write otherwise is
// kept as it is written. The source text that newer versions of JSON.parse hand to a reviver is not
// everywhere, so such numbers are put in quotes before the text is parsed.
import { WrittenNumber } from '../table/table.ts'

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** What a quoted number begins with. A text of the file that begins so, or with an escape, gets
 * `TEXT` in front, so none is taken for a number. */
const WRITTEN = '=n'
const TEXT = '=t'

/** Throws SyntaxError for what is no JSON, as JSON.parse does. */
export function parseJson(text: string): unknown {
  const quoted = withQuotedNumbers(text)
  if (quoted === undefined) return JSON.parse(text)
  try {
    return JSON.parse(quoted, (_, value: unknown) => {
      if (typeof value !== 'string' || value[0] !== '=') return value
      const rest = value.slice(WRITTEN.length)
      return value.startsWith(WRITTEN) ? new WrittenNumber(rest) : rest
    })
  } catch {
    // Says what is wrong with the text as the file has it.
    return JSON.parse(text)
  }
}

/** The text with its numbers in quotes that JavaScript writes otherwise; undefined where there is
 * none. */
function withQuotedNumbers(text: string): string | undefined {
  const pieces: string[] = []
  let [from, hasNumber] = [0, false]
  const put = (at: number, end: number, piece: string) => {
    pieces.push(text.slice(from, at), piece)
    from = end
  }
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfText(text, at)
      const first = text[at + 1]
      if ((first === '=' || first === '\\') && !isName(text, end)) put(at, at + 1, `"${TEXT}`)
      at = end
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      NUMBER.lastIndex = at
      const [found] = NUMBER.exec(text) ?? [text[at]]
      if (found !== '-' && `${Number(found)}` !== found && !isName(text, at + found.length)) {
        hasNumber = true
        put(at, at + found.length, `"${WRITTEN}${found}"`)
      }
      at += found.length
    } else at++
  }
  if (!hasNumber) return undefined
  return pieces.concat(text.slice(from)).join('')
}

/** Index after the quote that ends a text; the end of everything where none does. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at++
  }
  return text.length
}

/** Whether what ends here stands where the name of a field does. */
function isName(text: string, end: number): boolean {
  let at = end
  while (' \t\r\n'.includes(text[at] ?? '.')) at++
  return text[at] === ':'
}
