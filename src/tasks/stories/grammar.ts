// Writes the sentences and words of the stories as JSON, for readers in other languages.
import { AGREEING, FOLLOWING, FORMS_OF_KINDS, KEPT, SECOND_FORM, WORDS } from './slots.ts'
import { BEATS } from './tell.ts'
import { TAKES_AN } from './words/listed.ts'
import { PAIRS } from './words/things.ts'

/** What src/jobs/templates/scores/story.py reads. Slots that share a list of words name it once. */
export function storyGrammar(): string {
  const lists = [...new Set(Object.values(WORDS))]
  return JSON.stringify({
    words: lists,
    lists: Object.fromEntries(
      Object.entries(WORDS).map(([slot, words]) => [slot, lists.indexOf(words)]),
    ),
    kept: [...KEPT],
    following: FOLLOWING,
    agreeing: AGREEING,
    forms_of_kinds: FORMS_OF_KINDS,
    second_form: [...SECOND_FORM],
    pairs: PAIRS,
    an: TAKES_AN.source,
    sentences: Object.values(BEATS).flatMap((own) =>
      own.map(({ text, needs, gives, mood }) => ({ text, needs, gives, mood })),
    ),
  })
}
