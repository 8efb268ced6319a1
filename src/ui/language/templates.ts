// Finds the template that a text was made from: `Step {0} of {1}` for `Step 3 of 9`.

/** A place for a value in a text of a catalogue. */
const HOLE = /\{\d+\}/g

export interface Template {
  readonly key: string
  readonly pattern: RegExp
  /** Letters outside its holes: the more, the surer a match. */
  readonly weight: number
}

export interface Match {
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

function templateOf(key: string): Template {
  const source = key.split(HOLE).map(escaped).join('([\\s\\S]*?)')
  return {
    key,
    pattern: new RegExp(`^${source}$`),
    weight: key.replace(HOLE, '').replace(/[^A-Za-z]/g, '').length,
  }
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
      for (const { key, pattern, weight } of list) {
        const match = pattern.exec(text)
        if (match) found.push({ key, weight, values: match.slice(1) })
      }
    return found.sort((a, b) => b.weight - a.weight)
  }
}
