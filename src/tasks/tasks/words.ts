// Holds what the tasks on words share: made-up words of a range of lengths, as many of each length
// as there are or can be numbered.
import { choices } from '../task/numbering.ts'
import type { TaskParam } from '../task/task.ts'
import { LETTERS } from '../tokenizers/letters.ts'

/** The parameters of a range of lengths. */
export const lengthParams = (shortest: number, longest: number, most: number): TaskParam[] => [
  {
    name: 'min_length',
    label: 'Shortest word',
    help: 'Letters of the shortest words.',
    default: shortest,
    min: 2,
    max: most,
    step: 1,
    unit: 'letters',
  },
  {
    name: 'max_length',
    label: 'Longest word',
    help: 'Letters of the longest words; where this is less than the shortest, all words have the length of the shortest.',
    default: longest,
    min: 2,
    max: most,
    step: 1,
    unit: 'letters',
  },
]

/** The lengths of a range, from the parameters. */
export function lengthsOf({ min_length, max_length }: Readonly<Record<string, number>>): number[] {
  const count = Math.max(1, max_length - min_length + 1)
  return Array.from({ length: count }, (_, i) => min_length + i)
}

/** Words of so many letters, of the first `letters` of the alphabet. */
export const wordsOf = (length: number, letters: number = LETTERS.length): bigint =>
  BigInt(letters) ** BigInt(length)

/** Word number `index` of them. */
export const wordAt = (index: bigint, length: number, letters: number = LETTERS.length): string =>
  choices(index, new Array(length).fill(letters))
    .map((i) => LETTERS[i])
    .join('')
