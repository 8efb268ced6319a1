// Bounds the time and memory that a tokenizer's file may take: its patterns may backtrack for ever,
// and its replacements may grow without end. Growth is bounded here, on every platform; time, where
// the platform can end running code.

import { TokenizerFileError } from './tokenizer_json.ts'

/** Runs work, of which `during` says what is on; throws TokenizerFileError where it takes too long.
 * `expressions`: all that it may run, as the file names them. */
export type PatternGuard = <T>(
  work: () => T,
  during: () => string,
  expressions: readonly string[],
) => T

/** Longer than any text of a task, short enough for any memory. */
const MOST_CHARACTERS = 10_000_000

let guard: PatternGuard | undefined
let isGuarded = false
let on = ''

/** From now on the patterns of this process run under it; without one they run as long as they
 * take. */
export function installPatternGuard(own: PatternGuard | undefined): void {
  guard = own
}

/** Runs work that may run patterns of a file. */
export function guarded<T>(work: () => T, expressions: readonly string[]): T {
  if (!guard || isGuarded) return work()
  isGuarded = true
  try {
    return guard(work, () => on, expressions)
  } finally {
    isGuarded = false
    on = ''
  }
}

/** Says which pattern runs now, as the file names it. */
export function running(where: string): void {
  on = where
}

/** A text with every match replaced. Throws TokenizerFileError where it grows beyond all use. */
export function replaced(text: string, pattern: RegExp, content: string, where: string): string {
  running(where)
  let length = text.length
  return text.replaceAll(pattern, (match: string) => {
    length += content.length - match.length
    refuseGrowth(length, text, where)
    return content
  })
}

/** Throws TokenizerFileError where what a part makes of a text is too long. */
export function refuseGrowth(length: number, text: string, where: string): void {
  if (length > MOST_CHARACTERS)
    throw new TokenizerFileError(
      `${where}: a text of ${text.length} characters grew to more than ${MOST_CHARACTERS}`,
    )
}
