// Declares what a sentence of a story is. The same declaration tells stories and reads them.
import type { Mood } from '../words/feelings.ts'

/** What can be true in a story, and how a reader says that it is not. `hero` is the one whom the
 * story is about, `friend` the one who comes to them, `thing` what it is about. */
export const FACTS = {
  hero: 'nobody has been introduced yet',
  owns: '{hero} has no {thing}',
  wishes: '{hero} does not wish for anything',
  fears: '{hero} is not afraid of anything',
  away: '{hero} has not gone anywhere',
  lost: 'nothing is lost',
  broken: 'nothing is broken',
  stuck: 'nothing is stuck',
  astray: '{hero} has not lost the way',
  quarrel: 'nobody has quarrelled',
  making: '{hero} is not making anything',
  trouble: 'nothing has gone wrong',
  friend: 'no friend has come',
  told: '{friend} has not heard what is wrong',
  trying: 'nobody has tried anything',
  solved: 'it has not ended well',
  failed: 'it has not ended badly',
  ended: 'the story is not over',
} as const

export type Fact = keyof typeof FACTS

/** A fact, or with `!` that it is not true. */
export type Condition = Fact | `!${Fact}`

export interface Sentence {
  /** The words, with slots in braces (slots.ts). */
  readonly text: string
  /** What must be true before. */
  readonly needs: readonly Condition[]
  /** What is true after. */
  readonly gives: readonly Condition[]
  /** How the hero feels after it; absent where it does not say. */
  readonly mood?: Mood
}

/** Sentences that share what must be true before and what is true after them. */
export const sentences = (
  needs: string,
  gives: string,
  texts: string,
  mood?: Mood,
): readonly Sentence[] =>
  texts
    .trim()
    .split('\n')
    .map((text) => ({
      text: text.trim(),
      needs: conditions(needs),
      gives: conditions(gives),
      ...(mood && { mood }),
    }))

const conditions = (text: string) => text.split(' ').filter(Boolean) as Condition[]
