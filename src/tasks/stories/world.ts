// Holds what is true at a moment of a story, and what a sentence changes.
import { type Condition, FACTS, type Fact, type Sentence } from './sentences/sentence.ts'
import { fill, KEPT, slotsOf, type Words } from './slots.ts'
import type { Mood } from './words/feelings.ts'

export interface World {
  readonly facts: ReadonlySet<Fact>
  /** The words of slots that keep theirs. */
  readonly names: Words
  /** How the hero feels, where a sentence has said so. */
  readonly mood?: Mood
}

export const EMPTY: World = { facts: new Set(), names: {} }

const factOf = (condition: Condition) => condition.replace('!', '') as Fact

/** The conditions of a sentence that do not hold. */
export const unmet = ({ facts }: World, { needs }: Sentence): Condition[] =>
  needs.filter((need) => facts.has(factOf(need)) === need.startsWith('!'))

/** What is true after a sentence with these words. Slots that keep their word keep their first. */
export function after(world: World, { text, gives, mood }: Sentence, words: Words): World {
  const facts = new Set(world.facts)
  for (const fact of gives) {
    if (fact.startsWith('!')) facts.delete(factOf(fact))
    else facts.add(factOf(fact))
  }
  const own = slotsOf(text).filter((slot) => KEPT.has(slot) && slot in words)
  const names = { ...Object.fromEntries(own.map((slot) => [slot, words[slot]])), ...world.names }
  const now = mood ?? world.mood
  return { facts, names, ...(now && { mood: now }) }
}

/** Says that a condition does not hold. */
export function objection(condition: Condition, { names }: World): string {
  const known = { hero: 'nobody', friend: 'nobody', thing: 'thing', ...names }
  const negative = fill(FACTS[factOf(condition)], known)
  return condition.startsWith('!') ? OPPOSITES[factOf(condition)] : negative
}

/** What a story says that must not be true before a sentence. */
const OPPOSITES: Readonly<Record<Fact, string>> = {
  hero: 'the story begins twice',
  owns: 'the thing is there already',
  wishes: 'the story is about a wish',
  fears: 'the story is about a fear',
  away: 'the story is about a walk',
  lost: 'the thing is lost',
  broken: 'the thing is broken',
  stuck: 'the thing is stuck',
  astray: 'the way is lost',
  quarrel: 'the two have quarrelled',
  making: 'the thing is a gift',
  trouble: 'something has gone wrong already',
  friend: 'a friend is there already',
  told: 'the friend knows already',
  trying: 'they have tried already',
  solved: 'it has ended well already',
  failed: 'it has ended badly already',
  ended: 'the story is over',
}
