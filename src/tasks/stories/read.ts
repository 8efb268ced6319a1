// Reads a story: which of its sentences are understood, what happens in them, how it ends, and what
// contradicts what was said before.
import type { Sentence } from './sentences/sentence.ts'
import { fill, KEPT, longestPiece, patternOf, slotsOf, type Words } from './slots.ts'
import { BEATS, type Beat } from './tell.ts'
import type { Mood } from './words/feelings.ts'
import { after, EMPTY, objection, unmet, type World } from './world.ts'

/** What a text tells. */
export interface Reading {
  readonly sentences: readonly Read[]
  /** Whether the story has an end. */
  readonly has_ended: boolean
  /** How its hero feels at the end; absent where no sentence says so. */
  readonly mood?: Mood
  /** What the story is about: its hero, friend, thing, fear and what they are, by slot. */
  readonly names: Words
}

/** A sentence as it was read. */
export interface Read {
  readonly text: string
  /** What happens in it; absent where the sentence is not understood. */
  readonly beat?: Beat
  /** What is wrong with it; empty where it fits. */
  readonly faults: readonly string[]
}

interface Known {
  readonly beat: Beat
  readonly sentence: Sentence
  /** The longest piece without slots: what lacks it need not be matched. */
  readonly piece: string
  readonly pattern: RegExp
}

let made: readonly Known[] | undefined

/** Every sentence with its pattern, made when it is first needed. */
function known(): readonly Known[] {
  made ??= Object.entries(BEATS).flatMap(([beat, sentences]) =>
    sentences.map((sentence) => ({
      beat: beat as Beat,
      sentence,
      piece: longestPiece(sentence.text),
      pattern: patternOf(sentence.text),
    })),
  )
  return made
}

/** The sentences of a text. One ends at a full stop, an exclamation or a question mark outside of
 * quotation marks, or before the mark that closes what somebody says where a capital letter
 * follows. Spaces are those of ASCII: languages differ in what else is one. */
function splitSentences(text: string): string[] {
  const found: string[] = []
  let [from, open] = [0, false]
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') open = !open
    else if (open || !'.!?'.includes(text[i])) continue
    const ends = '.!?'.includes(text[i]) || '.!?'.includes(text[i - 1] ?? ' ')
    if (!open && ends && /^([ \t\n\r]+["A-Z]|[ \t\n\r]*$)/.test(text.slice(i + 1))) {
      found.push(text.slice(from, i + 1))
      // One space, and no other, is between sentences.
      from = i + (text[i + 1] === ' ' ? 2 : 1)
    }
  }
  return from < text.length ? [...found, text.slice(from)] : found
}

/** Reads a whole text, prompt and response. */
export function readStory(text: string): Reading {
  let world = EMPTY
  const sentences = splitSentences(text).map((own) => {
    const best = readSentence(own, world)
    if (!best) return { text: own, faults: ['it is no sentence that the stories use'] }
    const { beat, sentence, words, faults } = best
    world = after(world, sentence, words)
    return { text: own, beat, faults }
  })
  const { facts, mood, names } = world
  return { sentences, has_ended: facts.has('ended'), names, ...(mood && { mood }) }
}

interface Match extends Known {
  readonly words: Words
  readonly faults: readonly string[]
}

/** The reading of a sentence with the fewest faults. */
function readSentence(text: string, world: World): Match | undefined {
  let best: Match | undefined
  for (const own of known()) {
    const match = text.includes(own.piece) ? own.pattern.exec(text) : null
    if (!match) continue
    const words: Words = { ...match.groups }
    const faults = faultsOf(text, own.sentence, words, world)
    if (!best || faults.length < best.faults.length) best = { ...own, words, faults }
    if (faults.length === 0) break
  }
  return best
}

function faultsOf(text: string, sentence: Sentence, words: Words, world: World): string[] {
  const { names } = world
  const faults = unmet(world, sentence).map((condition) => objection(condition, world))
  if (world.facts.has('ended') && !faults.includes('the story is over'))
    faults.push('the story is over')
  for (const slot of slotsOf(sentence.text)) {
    if (!KEPT.has(slot) || words[slot] === undefined || names[slot] === undefined) continue
    if (names[slot] !== words[slot]) faults.push(`${words[slot]} was ${names[slot]} before`)
  }
  if (words.friend !== undefined && words.friend === (names.hero ?? words.hero))
    faults.push(`${words.friend} is already the name of somebody else`)
  // With the words that it should have, the sentence must be the same: articles, pronouns and
  // number.
  if (fill(sentence.text, { ...names, ...words }) !== text) faults.push('its words do not agree')
  return faults
}
