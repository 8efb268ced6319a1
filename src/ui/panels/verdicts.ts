// Words and keys of the Preferences panel.
import type { LabState } from '../../lab/store.ts'

export type Choice = 'a' | 'b' | 'skip' | 'undo'

const KEYS: Readonly<Record<string, Choice>> = {
  '1': 'a',
  '2': 'b',
  ArrowLeft: 'a',
  ArrowRight: 'b',
  '0': 'skip',
  z: 'undo',
}

/** What a key says of the pair on screen. */
export const choiceOf = (key: string): Choice | undefined =>
  Object.hasOwn(KEYS, key.length === 1 ? key.toLowerCase() : key)
    ? KEYS[key.length === 1 ? key.toLowerCase() : key]
    : undefined

type Asked = NonNullable<LabState['asked']>

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`

/** Where a person stands: one sentence. */
export function progressText({ given, min_pairs, pending }: Asked): string {
  if (pending === 0) return `${plural(given, 'verdict')}; there are no more pairs.`
  if (given < min_pairs) return `${given} of ${plural(min_pairs, 'verdict')}; then training begins.`
  return `${plural(given, 'verdict')}; each further one is used as it comes.`
}

/** How much of what training waits for has come, 0 … 1. */
export const progressShare = ({ given, min_pairs }: Asked): number =>
  min_pairs === 0 ? 1 : Math.min(1, given / min_pairs)
