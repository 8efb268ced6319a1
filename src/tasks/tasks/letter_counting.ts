// Counting a letter in a word, in a vocabulary of letters.
import { choices, numberKinds } from '../numbering.ts'
import { splitProblems } from '../problems.ts'
import type { Task, TaskKind } from '../task.ts'
import { alphabetOf, characters } from '../tokenizers/characters.ts'

const ID = 'letter_counting'
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const tokenizer = characters(alphabetOf([LETTERS, '0123456789', ',=']))

/** `strawberry,r=` → `3`. After letter_counting of reasoning-gym, with made-up words. */
export const letter_counting: TaskKind = {
  id: ID,
  name: 'Count letters',
  summary: 'Say how often a letter occurs in a made-up word.',
  params: [
    {
      name: 'min_length',
      label: 'Shortest word',
      help: 'Letters of the shortest words.',
      default: 3,
      min: 2,
      max: 16,
      step: 1,
      unit: 'letters',
    },
    {
      name: 'max_length',
      label: 'Longest word',
      help: 'Letters of the longest words; where this is less than the shortest, all words have the length of the shortest.',
      default: 8,
      min: 2,
      max: 16,
      step: 1,
      unit: 'letters',
    },
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
  create: ({ min_length, max_length, distinct_letters }) =>
    countingTask(min_length, Math.max(min_length, max_length), distinct_letters),
}

function countingTask(shortest: number, longest: number, letters: number): Task {
  const lengths = Array.from({ length: longest - shortest + 1 }, (_, i) => shortest + i)
  // Each word is asked about each letter.
  const numbering = numberKinds(lengths.map((length) => BigInt(letters) ** BigInt(length + 1)))
  const name = `${ID} length=${shortest}…${longest} letters=${letters}`
  const problems = splitProblems(name, numbering.total)
  return {
    id: ID,
    tokenizer,
    max_prompt_length: longest + 3,
    max_response_length: String(longest).length + 1,
    test_size: problems.test_size,
    train_size: problems.train_size,
    sample(seed, index, split) {
      const { kind, index: at } = numbering.at(problems.draw(seed, index, split).problem)
      const chosen = choices(
        at,
        Array.from({ length: lengths[kind] + 1 }, () => letters),
      )
      const [letter, ...word] = chosen.map((i) => LETTERS[i])
      const ground_truth = String(count(word, letter))
      return { prompt: `${word.join('')},${letter}=`, ground_truth, demonstration: ground_truth }
    },
    score(prompt, response) {
      const match = /^([a-z]+),([a-z])=$/.exec(prompt)
      if (!match) throw new RangeError(`${ID}: expected a prompt like strawberry,r=, got ${prompt}`)
      return response === String(count([...match[1]], match[2])) ? 1 : 0
    },
  }
}

const count = (word: readonly string[], letter: string): number =>
  word.filter((other) => other === letter).length
