// Words and keys of the Preferences panel.
import type { LabState } from '../../lab/store.ts'

export type Choice = 'a' | 'b' | 'skip' | 'undo'

/** None of them is a digit: answers may be digits, and a key that looks like one would seem to choose it. */
const KEYS: Readonly<Record<string, Choice>> = {
  a: 'a',
  b: 'b',
  ArrowLeft: 'a',
  ArrowRight: 'b',
  x: 'skip',
  z: 'undo',
}

/** What a key says of the pair on screen. */
export const choiceOf = (key: string): Choice | undefined =>
  Object.hasOwn(KEYS, key.length === 1 ? key.toLowerCase() : key)
    ? KEYS[key.length === 1 ? key.toLowerCase() : key]
    : undefined

type Asked = NonNullable<LabState['asked']>

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`

/** Where a person stands: one sentence. `has_begun`: steps were trained on verdicts already. */
export function progressText({ given, min_pairs, pending }: Asked, has_begun = false): string {
  const said = given === 0 ? 'No verdict yet' : plural(given, 'verdict')
  if (pending === 0) return `${said}; there are no more pairs.`
  if (given < min_pairs)
    return `${given} of ${plural(min_pairs, 'verdict')}; then training ${has_begun ? 'goes on' : 'begins'}.`
  const each = given === 0 ? 'each one' : 'each further one'
  return `${said}; ${each} is used as it comes. ${plural(pending, 'pair')} left.`
}

/** Whether a verdict can be taken back: a pair was decided before the one that is next. */
export const canUndo = ({ pairs }: Asked): boolean => pairs[0]?.id !== 0

/** How much of what training waits for has come, 0 … 1. */
export const progressShare = ({ given, min_pairs }: Asked): number =>
  min_pairs === 0 ? 1 : Math.min(1, given / min_pairs)
