// Handles rows of a data file that cannot be used: the file is refused for the first one, or they
// are left out and counted.
import { DataFileError } from './data_file.ts'

/** Reasons that are kept; a broken file can have a million. */
const FIRST = 5

/** Characters that are named. */
const MOST_LACKING = 40

/** Characters or words in a message, each in quotes. */
export const shownTexts = (texts: readonly string[]): string =>
  texts.map((text) => JSON.stringify(text.slice(0, 20))).join(', ')

/** What a person is told of such rows. */
export interface FoundBad {
  readonly count: number
  /** Of the first few of them: file, row, column and what is wrong. */
  readonly first: readonly string[]
  /** What the tokenizer lacks, and what to do about it; absent where it lacks nothing. */
  readonly advice?: string | undefined
}

export class BadRows implements FoundBad {
  count = 0
  readonly first: string[] = []
  readonly #lacking = new Set<string>()
  #lacks = 0

  /** Takes one down. */
  readonly add = (why: string): void => {
    if (this.first.length < FIRST) this.first.push(why)
    this.count++
  }

  /** Takes down what the tokenizer lacks of one row. */
  lacks(unknown: readonly string[]): void {
    this.#lacks++
    for (const text of unknown) if (this.#lacking.size < MOST_LACKING) this.#lacking.add(text)
  }

  get advice(): string | undefined {
    if (this.#lacks === 0) return undefined
    const rows = this.#lacks === 1 ? '1 row holds' : `${this.#lacks} rows hold`
    return `${rows} what the vocabulary lacks: ${shownTexts([...this.#lacking])}. Take the rows' own characters as the vocabulary, or another tokenizer, or leave such rows out`
  }

  /** Takes down those of another list too. */
  addAll({ count, first }: FoundBad): void {
    for (const why of first) this.add(why)
    this.count += count - first.length
  }
}

/** What can be sent between workers. */
export const plainBad = ({ count, first, advice }: FoundBad): FoundBad => ({
  count,
  first,
  ...(advice !== undefined && { advice }),
})

/** A file with rows that cannot be used: says the first, and how many there are. */
export class BadRowsError extends DataFileError {
  readonly bad: FoundBad

  constructor(bad: FoundBad) {
    const others = bad.count - 1
    const more =
      others > 0 ? `; ${others} other ${others === 1 ? 'row' : 'rows'} cannot be used either` : ''
    super(`${bad.first[0]}${more}${bad.advice === undefined ? '' : `. ${bad.advice}`}`)
    this.bad = bad
  }
}

/** How a file is read. */
export interface Reading {
  /** What is done about a row that cannot be used, given as file, row and what is wrong; if it
   * returns, the row is left out. */
  readonly onBadRow: (why: string) => void
  /** Hears the share of the file that was read, now and then. */
  readonly onProgress?: ((share: number) => void) | undefined
}

/** The first bad row is an error. */
export const STRICT: Reading = {
  onBadRow(why) {
    throw new DataFileError(why)
  },
}
