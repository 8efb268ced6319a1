// Poses the task of spelling a word backwards.
import { numberedTask, SHARE_OF_PLACES, shareOfPlaces } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { letters } from '../tokenizers/letters.ts'
import { lengthParams, lengthsOf, wordAt, wordsOf } from './words.ts'

const backwards = (word: string): string => [...word].reverse().join('')

/** `listen=` → `netsil`. */
export const spell_backward: TaskKind = {
  id: 'spell_backward',
  name: 'Spell backwards',
  summary: 'Write a made-up word from its last letter to its first.',
  params: lengthParams(3, 6, 20),
  short_run: { max_length: 4 },
  create: (range) => {
    const lengths = lengthsOf(range)
    const longest = lengths[lengths.length - 1]
    return numberedTask({
      id: 'spell_backward',
      name: `lengths=${lengths}`,
      tokenizer: letters,
      max_prompt_length: longest + 1,
      max_response_length: longest + 1,
      partial_score: SHARE_OF_PLACES,
      kinds: lengths.map((length) => wordsOf(length)),
      pose: (index, kind) => {
        const word = wordAt(index, lengths[kind])
        return { prompt: `${word}=`, ground_truth: backwards(word) }
      },
      pattern: /^([a-z]+)=$/,
      example: 'listen=',
      check: ([, word], response) => shareOfPlaces(response, backwards(word)),
    })
  },
}
