// Rows of a data file that cannot be used: the file is refused for the first one, or they are left out and counted.
import { DataFileError } from './data_file.ts'

/** Reasons that are kept; a broken file can have a million. */
const FIRST = 5

/** What a person is told of such rows. */
export interface FoundBad {
  readonly count: number
  /** Of the first few of them: file, row, column and what is wrong. */
  readonly first: readonly string[]
}

export class BadRows implements FoundBad {
  count = 0
  readonly first: string[] = []

  /** Takes one down. */
  readonly add = (why: string): void => {
    if (this.first.length < FIRST) this.first.push(why)
    this.count++
  }

  /** Takes down those of another list too. */
  addAll({ count, first }: FoundBad): void {
    for (const why of first) this.add(why)
    this.count += count - first.length
  }
}

/** A file with rows that cannot be used: says the first, and how many there are. */
export class BadRowsError extends DataFileError {
  readonly bad: FoundBad

  constructor(bad: FoundBad) {
    const others = bad.count - 1
    const more =
      others > 0 ? `; ${others} other ${others === 1 ? 'row' : 'rows'} cannot be used either` : ''
    super(`${bad.first[0]}${more}`)
    this.bad = bad
  }
}

/** How a file is read. */
export interface Reading {
  /** What is done about a row that cannot be used, given as file, row and what is wrong; if it returns, the row is left out. */
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
