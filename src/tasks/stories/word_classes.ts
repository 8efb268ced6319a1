// Sorts the words of a story into kinds: names, verbs, nouns, feelings, the marks that end a
// sentence, and the rest; and finds the sentence that it ends with.
import { readStory } from './read.ts'
import { WORDS } from './slots.ts'
import { VERBS } from './words/verbs.ts'

/** Kinds of words, in the order in which they are listed. */
export const WORD_CLASSES = {
  name: 'names',
  verb: 'verbs',
  noun: 'things, animals and places',
  feeling: 'feelings',
  mark: 'ends of sentences',
  other: 'other words',
} as const

export type WordClass = keyof typeof WORD_CLASSES

/** Slots whose words are of a kind; a word of several kinds is of the first. */
const SLOTS: readonly (readonly [WordClass, readonly string[]])[] = [
  ['name', ['hero']],
  ['feeling', ['happy', 'sad', 'afraid', 'angry', 'calm']],
  ['noun', ['thing', 'kind', 'tool', 'food', 'food_s', 'game', 'fear', 'ground']],
]

let made: ReadonlyMap<string, WordClass> | undefined

/** What its words are called by: `mill` of `the old mill`, and nothing of `the forest at night`. */
const lastWord = (words: string): string | undefined => /^(?:the )?(?:\w+ )?(\w+)$/.exec(words)?.[1]

/** The kind of each word that has one, made when it is first needed. */
function kinds(): ReadonlyMap<string, WordClass> {
  made ??= new Map([
    ...VERBS.map((verb) => [verb, 'verb'] as const),
    ...SLOTS.toReversed().flatMap(([kind, slots]) =>
      slots.flatMap((slot) =>
        WORDS[slot].flatMap((words) => {
          const word = lastWord(words)
          return word === undefined ? [] : [[word, kind] as const]
        }),
      ),
    ),
  ])
  return made
}

/** What kind of word stands at a place of a story. */
export interface PlacedClass {
  /** The characters of the text that it takes, the end excluded. */
  readonly start: number
  readonly end: number
  readonly kind: WordClass
  /** Whether it belongs to the sentence that the story ends with. */
  readonly isEnding: boolean
}

/** The words and marks of a continuation of `prompt`, in order; the places are of the
 * continuation. */
export function wordClassesOf(prompt: string, response: string): readonly PlacedClass[] {
  const { sentences, has_ended } = readStory(prompt + response)
  const last = has_ended ? (sentences.at(-1)?.text ?? '') : ''
  const endsFrom = last === '' ? response.length : response.lastIndexOf(last)
  return [...response.matchAll(/[A-Za-z]+|[.!?]/g)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
    kind: /[.!?]/.test(word)
      ? 'mark'
      : (kinds().get(word) ?? kinds().get(word.toLowerCase()) ?? 'other'),
    isEnding: index >= endsFrom,
  }))
}
