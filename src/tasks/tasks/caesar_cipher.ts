// Poses the task of reading a word whose letters were moved along the alphabet.
import { numberedTask, SHARE_OF_PLACES, shareOfPlaces } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { LETTERS, letters } from '../tokenizers/letters.ts'
import { lengthParams, lengthsOf, wordAt, wordsOf } from './words.ts'

const moved = (word: string, by: number): string =>
  [...word]
    .map((letter) => LETTERS[(LETTERS.indexOf(letter) + by + LETTERS.length) % LETTERS.length])
    .join('')

/** `khoor,3=` → `hello`. */
export const caesar_cipher: TaskKind = {
  id: 'caesar_cipher',
  name: 'Caesar cipher',
  summary:
    'Every letter of a made-up word was moved along the alphabet by a number: move them back.',
  params: [
    ...lengthParams(2, 5, 20),
    {
      name: 'max_rotation',
      label: 'Largest move',
      help: 'How many letters along the alphabet a word is moved at most.',
      default: 3,
      min: 1,
      max: 25,
      step: 1,
      unit: 'letters',
    },
  ],
  short_run: { max_length: 3, max_rotation: 1 },
  create: ({ max_rotation, ...range }) => {
    const lengths = lengthsOf(range)
    const longest = lengths[lengths.length - 1]
    return numberedTask({
      id: 'caesar_cipher',
      name: `lengths=${lengths} rotation=${max_rotation}`,
      tokenizer: letters,
      max_prompt_length: longest + 2 + String(max_rotation).length,
      max_response_length: longest + 1,
      partial_score: SHARE_OF_PLACES,
      kinds: lengths.map((length) => wordsOf(length) * BigInt(max_rotation)),
      pose: (index, kind) => {
        const rotations = BigInt(max_rotation)
        const by = Number(index % rotations) + 1
        const word = wordAt(index / rotations, lengths[kind])
        return { prompt: `${moved(word, by)},${by}=`, ground_truth: word }
      },
      pattern: /^([a-z]+),(\d+)=$/,
      example: 'khoor,3=',
      check: ([, word, by], response) => shareOfPlaces(response, moved(word, -Number(by))),
    })
  },
}
