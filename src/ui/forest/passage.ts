// Cuts a story to its last passage: its end is what a run changes, and whole stories would push all
// else out of sight.
import type { WordRun } from '../kit/changed_words.ts'
import { isProse } from '../part/prose.ts'

/** Stands where a text was cut. */
export const CUT = '… '
/** Words that are left of a prompt, at most, where it has no sentence end to be cut at. */
const PROMPT_WORDS = 20
/** Words that are left of an answer. */
const ANSWER_WORDS = 28

/** The last sentences of a text that is read, as many as are short; another text as it is. */
export function lastPassage(text: string): string {
  const words = text.match(/\s*\S+/g) ?? []
  if (!isProse(text) || words.length <= PROMPT_WORDS) return text
  const last = words.slice(-PROMPT_WORDS)
  const begins = 1 + last.findIndex((word) => /[.!?]["”’]?$/.test(word))
  // A text may end where the passage's only sentence does.
  const from = begins < last.length ? begins : 0
  return CUT + last.slice(from).join('').trimStart()
}

/** The last words of an answer, still told apart. */
export function lastRuns(runs: readonly WordRun[]): readonly WordRun[] {
  const kept: WordRun[] = []
  let left = ANSWER_WORDS
  for (const run of runs.toReversed()) {
    const words = run.text.match(/\s*\S+|\s+$/g) ?? []
    if (left === 0) return [{ text: CUT, isChanged: false }, ...kept]
    const own = words.slice(-left)
    kept.unshift({ ...run, text: own.join('') })
    left -= own.length
    if (own.length < words.length) return [{ text: CUT, isChanged: false }, ...kept]
  }
  return kept
}
