// Poses the task of counting the vowels of a word, in a vocabulary of its own.
import { numberedTask } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { alphabetOf, characters } from '../tokenizers/characters.ts'
import { lengthParams, lengthsOf, wordAt, wordsOf } from './words.ts'

const tokenizer = characters(alphabetOf(['abcdefghijklmnopqrstuvwxyz', '0123456789', '? ']))
const vowels = (word: string): string => String(word.replaceAll(/[^aeiou]/g, '').length)

/** `vowels in banana?` → `3`. */
export const vowel_counting: TaskKind = {
  id: 'vowel_counting',
  name: 'Count vowels',
  summary: 'Say how many vowels a made-up word has.',
  params: lengthParams(3, 6, 12),
  create: (range) => {
    const lengths = lengthsOf(range)
    const longest = lengths[lengths.length - 1]
    return numberedTask({
      id: 'vowel_counting',
      name: `lengths=${lengths}`,
      tokenizer,
      max_prompt_length: 'vowels in ?'.length + longest,
      max_response_length: String(longest).length + 1,
      kinds: lengths.map((length) => wordsOf(length, 26)),
      pose: (index, kind) => {
        const word = wordAt(index, lengths[kind], 26)
        return { prompt: `vowels in ${word}?`, ground_truth: vowels(word) }
      },
      pattern: /^vowels in ([a-z]+)\?$/,
      example: 'vowels in banana?',
      answer: ([, word]) => vowels(word),
    })
  },
}
