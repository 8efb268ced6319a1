// Reads values as Python prints them: a dict of numbers as transformers logs it, a number as NumPy
// or PyTorch write it.

/** A value of a dict. Text stays text; a number that is not finite is one of JavaScript's. */
export type Printed =
  | number
  | string
  | boolean
  | null
  | readonly Printed[]
  | { readonly [name: string]: Printed }

const NUMBER = /[-+]?(?:\d[\d_]*\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|inf(?:inity)?|nan)/iy
const WORD = /[A-Za-z_][\w.]*/y
const SPACE = /\s*/y
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }
const DEEPEST = 20

/** A number as Python writes it, also `nan` and `inf`; undefined for any other text. */
export function pythonNumber(text: string): number | undefined {
  const trimmed = text.trim()
  NUMBER.lastIndex = 0
  const [found] = NUMBER.exec(trimmed) ?? []
  if (found === undefined || found.length !== trimmed.length) return undefined
  const plain = found.replaceAll('_', '').toLowerCase()
  if (plain.includes('nan')) return Number.NaN
  if (plain.includes('inf')) return plain.startsWith('-') ? -Infinity : Infinity
  return Number(plain)
}

/** A number in what prints it: `812.5`, `np.float64(812.5)`, `tensor(0.5, device='cuda:0')`,
 * `True`; undefined for any other text. */
export function printedNumber(text: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed === 'True' || trimmed === 'False') return trimmed === 'True' ? 1 : 0
  const [, inner] = /^[A-Za-z_][\w.]*\(([^(),]*)(?:,[^()]*)?\)$/.exec(trimmed) ?? []
  return pythonNumber(inner ?? trimmed)
}

/** Reads one value. Throws SyntaxError where there is none. */
class Literal {
  readonly #text: string
  at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.#text) ?? []
    if (found !== undefined) this.at += found.length
    return found
  }

  /** Takes a sign after spaces. */
  #take(sign: string): boolean {
    this.#match(SPACE)
    if (this.#text[this.at] !== sign) return false
    this.at++
    return true
  }

  value(depth = 0): Printed {
    if (depth > DEEPEST) throw new SyntaxError('too deep')
    this.#match(SPACE)
    if (this.#take('{')) return this.#dict(depth)
    for (const [open, close] of ['[]', '()']) if (this.#take(open)) return this.#list(close, depth)
    const quote = this.#text[this.at]
    if (quote === "'" || quote === '"') return this.#quoted(quote)
    const number = this.#match(NUMBER)
    if (number !== undefined) return pythonNumber(number) ?? Number.NaN
    return this.#named(depth)
  }

  #dict(depth: number): Printed {
    const found: [string, Printed][] = []
    while (!this.#take('}')) {
      const name = this.value(depth + 1)
      if (!this.#take(':')) throw new SyntaxError('no colon')
      found.push([`${name}`, this.value(depth + 1)])
      if (this.#take(',')) continue
      if (!this.#take('}')) throw new SyntaxError('no end')
      break
    }
    return Object.fromEntries(found)
  }

  #list(close: string, depth: number): Printed {
    const found: Printed[] = []
    while (!this.#take(close)) {
      found.push(this.value(depth + 1))
      if (this.#take(',')) continue
      if (!this.#take(close)) throw new SyntaxError('no end')
      break
    }
    return found
  }

  #quoted(quote: string): string {
    let text = ''
    for (this.at++; this.#text[this.at] !== quote; this.at++) {
      let character = this.#text[this.at]
      if (character === undefined) throw new SyntaxError('no end')
      if (character === '\\') {
        character = this.#text[++this.at] ?? ''
        character = ESCAPES[character] ?? character
      }
      text += character
    }
    this.at++
    return text
  }

  /** True, None, JSON's words, or a call such as np.float64(1.5): its first argument. */
  #named(depth: number): Printed {
    const word = this.#match(WORD)
    if (word === undefined) throw new SyntaxError('no value')
    if (/^(True|true)$/.test(word)) return true
    if (/^(False|false)$/.test(word)) return false
    if (/^(None|null)$/.test(word)) return null
    if (!this.#take('(')) return word
    const [first = null] = [this.value(depth + 1)]
    while (!this.#take(')')) {
      if (this.at >= this.#text.length) throw new SyntaxError('no end')
      this.at++
    }
    return first
  }
}

/** The dict that begins at an index, and the index after it; 'open' where the text ends inside it;
 * undefined where there is none. */
export function dictAt(
  text: string,
  at: number,
): { readonly dict: Readonly<Record<string, Printed>>; readonly end: number } | 'open' | undefined {
  const literal = new Literal(text, at)
  try {
    const dict = literal.value()
    if (typeof dict !== 'object' || dict === null || Array.isArray(dict)) return undefined
    return { dict: dict as Readonly<Record<string, Printed>>, end: literal.at }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return literal.at >= text.length ? 'open' : undefined
  }
}
