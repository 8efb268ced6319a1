// Finds the template that a text was made from: `Step {0} of {1}` for `Step 3 of 9`.

/** A place for a value in a text of a catalogue. */
const HOLE = /\{\d+\}/g

interface Template {
  readonly key: string
  /** Its text between its holes. */
  readonly literals: readonly string[]
  readonly patterns: readonly RegExp[]
  /** Letters outside its holes: the more, the surer a match. */
  readonly weight: number
}

interface Match {
  readonly key: string
  readonly weight: number
  /** What its holes hold, in their order. */
  readonly values: readonly string[]
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []

/** The whole words of a template: those beside a hole may go on in it. */
function wholeWords(key: string): string[] {
  const joined = key.replace(/[A-Za-z]*\{\d+\}[A-Za-z]*/g, ' ')
  return wordsOf(joined)
}

/** A text of several sentences, or the end of one, is no part of a sentence: it fits where
 * sentences begin and end. */
function fits(value: string, before: string, after: string): boolean {
  const isLast = after === '' && /[.,:;!?]$/.test(value)
  if (!isLast && !/[.!?]\s+\S/.test(value)) return true
  const begins = before === '' || /[.!?:…]\s*$/.test(before)
  return begins && (after === '' || /[.!?]["”’)]*\s*$/.test(value))
}

/** The text between its holes. The point that ends a sentence is none of a number. */
function patternOf(literals: readonly string[], hole: string): RegExp {
  const last = literals.length - 1
  const parts = literals.map((text, i) =>
    i < last ? escaped(text).replace(/\\\.$/, '\\.(?!\\d)') : escaped(text),
  )
  return new RegExp(`^${parts.join(hole)}$`)
}

function templateOf(key: string): Template {
  const literals = key.split(HOLE)
  return {
    key,
    literals,
    // The nearest end of a value is right more often than the farthest.
    patterns: ['([\\s\\S]*?)', '([\\s\\S]*)'].map((hole) => patternOf(literals, hole)),
    weight: literals.join('').replace(/[^A-Za-z]/g, '').length,
  }
}

function matchesOf({ key, literals, patterns, weight }: Template, text: string): Match[] {
  return patterns.flatMap((pattern) => {
    const [, ...values] = pattern.exec(text) ?? []
    const isMatch =
      values.length > 0 && values.every((value, i) => fits(value, literals[i], literals[i + 1]))
    return isMatch ? [{ key, weight, values }] : []
  })
}

/** Templates by a word that each must have, its rarest, so that a text is tried against few. */
export class Templates {
  private readonly byWord = new Map<string, Template[]>()
  /** Those without a whole word. */
  private readonly wordless: Template[] = []

  constructor(keys: Iterable<string>) {
    const all = [...keys].filter((key) => key.search(HOLE) >= 0)
    const counts = new Map<string, number>()
    for (const key of all)
      for (const word of new Set(wholeWords(key))) counts.set(word, (counts.get(word) ?? 0) + 1)
    const rarest = (words: readonly string[]) =>
      words.reduce((a, b) => ((counts.get(b) ?? 0) < (counts.get(a) ?? 0) ? b : a))
    for (const key of all) {
      const words = wholeWords(key)
      const template = templateOf(key)
      if (words.length === 0) this.wordless.push(template)
      else {
        const word = rarest(words)
        this.byWord.set(word, [...(this.byWord.get(word) ?? []), template])
      }
    }
  }

  /** All that a text can have been made from, the surest first. */
  matches(text: string): Match[] {
    const found: Match[] = []
    const words = new Set(wordsOf(text))
    for (const list of [this.wordless, ...[...words].map((word) => this.byWord.get(word) ?? [])])
      for (const template of list) found.push(...matchesOf(template, text))
    return found.sort((a, b) => b.weight - a.weight)
  }
}
