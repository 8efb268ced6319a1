// Poses the task of counting a letter in a word, in a vocabulary of letters.
import { numberedTask } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { letters } from '../tokenizers/letters.ts'
import { lengthParams, lengthsOf, wordAt, wordsOf } from './words.ts'

const count = (word: string, letter: string): string => String(word.split(letter).length - 1)

/** `strawberry,r=` → `3`. After letter_counting of reasoning-gym, with made-up words. */
export const letter_counting: TaskKind = {
  id: 'letter_counting',
  name: 'Count letters',
  summary: 'Say how often a letter occurs in a made-up word.',
  params: [
    ...lengthParams(3, 8, 16),
    {
      name: 'distinct_letters',
      label: 'Different letters',
      help: 'How many letters of the alphabet words are made of, from a on; fewer of them occur more often.',
      default: 5,
      min: 2,
      max: 26,
      step: 1,
      unit: 'letters',
    },
  ],
  short_run: { max_length: 6 },
  properties: [
    {
      id: 'length',
      label: 'how long the word is',
      of: ({ prompt }) => String(prompt.indexOf(',')),
    },
  ],
  create: ({ distinct_letters, ...range }) => {
    const lengths = lengthsOf(range)
    const longest = lengths[lengths.length - 1]
    return numberedTask({
      id: 'letter_counting',
      name: `lengths=${lengths} letters=${distinct_letters}`,
      tokenizer: letters,
      max_prompt_length: longest + 3,
      max_response_length: String(longest).length + 1,
      // Each word is asked about each letter: a word of one letter more.
      kinds: lengths.map((length) => wordsOf(length + 1, distinct_letters)),
      pose: (index, kind) => {
        const [letter, ...rest] = wordAt(index, lengths[kind] + 1, distinct_letters)
        const word = rest.join('')
        return { prompt: `${word},${letter}=`, ground_truth: count(word, letter) }
      },
      pattern: /^([a-z]+),([a-z])=$/,
      example: 'strawberry,r=',
      answer: ([, word, letter]) => count(word, letter),
    })
  },
}
