// Poses the task of changing a word as a short order says: large letters, a letter taken out, a
// rotation.
import { numberedTask } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { alphabetOf, characters } from '../tokenizers/characters.ts'
import { LETTERS } from '../tokenizers/letters.ts'
import { lengthParams, lengthsOf, wordAt, wordsOf } from './words.ts'

const ORDERS: Readonly<Record<string, (word: string, place: number) => string>> = {
  /** All letters large. */
  up: (word) => word.toUpperCase(),
  /** Without the letter at a place, from 1. */
  del: (word, place) => word.slice(0, place - 1) + word.slice(place),
  /** The first letters go to the end. */
  rot: (word, count) => word.slice(count) + word.slice(0, count),
}

const tokenizer = characters(alphabetOf([LETTERS, LETTERS.toUpperCase(), '0123456789', ',:=']))

/** `up:hello=` → `HELLO`; `del,2:hello=` → `hllo`; `rot,2:hello=` → `llohe`. */
export const string_manipulation: TaskKind = {
  id: 'string_manipulation',
  name: 'Edit a word',
  summary:
    'Write a made-up word in capitals (up), without the letter at a place (del), or with its first letters moved to its end (rot).',
  params: lengthParams(3, 6, 16),
  short_run: { max_length: 4 },
  create: (range) => {
    const lengths = lengthsOf(range)
    const longest = lengths[lengths.length - 1]
    // An order with a place has one for each letter but the last.
    const kinds = lengths.flatMap((length) => [
      { order: 'up', length, places: 1 },
      { order: 'del', length, places: length - 1 },
      { order: 'rot', length, places: length - 1 },
    ])
    return numberedTask({
      id: 'string_manipulation',
      name: `lengths=${lengths}`,
      tokenizer,
      max_prompt_length: `rot,${longest - 1}:=`.length + longest,
      max_response_length: longest + 1,
      kinds: kinds.map(({ length, places }) => wordsOf(length) * BigInt(places)),
      pose: (index, kind) => {
        const { order, length, places } = kinds[kind]
        const place = Number(index % BigInt(places))
        const word = wordAt(index / BigInt(places), length)
        const said = order === 'up' ? order : `${order},${place + 1}`
        return { prompt: `${said}:${word}=`, ground_truth: ORDERS[order](word, place + 1) }
      },
      pattern: /^(up|del|rot)(?:,(\d+))?:([a-z]+)=$/,
      example: 'rot,2:hello=',
      answer: ([, order, place, word]) => ORDERS[order](word, Number(place)),
    })
  },
}
