// Asks for the greatest common divisor of two numbers.
import { numberedTask } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

const gcdOf = (a: number, b: number): number => (b === 0 ? a : gcdOf(b, a % b))

/** How many numbers up to each x have no common factor with x: Euler's φ. */
function totients(most: number): number[] {
  const phi = Array.from({ length: most + 1 }, (_, x) => x)
  for (let prime = 2; prime <= most; prime++)
    if (phi[prime] === prime) for (let x = prime; x <= most; x += prime) phi[x] -= phi[x] / prime
  return phi
}

/** Pair number `index` of two numbers without a common factor, the larger one growing. */
function coprimePair(index: number, phi: readonly number[]): readonly [number, number] {
  if (index === 0) return [1, 1]
  // Each pair occurs twice, one way round and the other.
  let rest = Math.floor((index - 1) / 2)
  let larger = 2
  while (rest >= phi[larger]) rest -= phi[larger++]
  let smaller = 1
  for (; rest > 0 || gcdOf(larger, smaller) > 1; smaller++) if (gcdOf(larger, smaller) === 1) rest--
  return index % 2 === 1 ? [larger, smaller] : [smaller, larger]
}

/** Pairs of one greatest common divisor that are used at most, for each number up to the largest:
 * most pairs have none but 1. */
const PAIRS_PER_NUMBER = 5

/** `12,18=` → `6`. */
export const gcd: TaskKind = {
  id: 'gcd',
  name: 'Greatest common divisor',
  summary: 'Name the largest number that divides both numbers.',
  params: [
    {
      name: 'max_value',
      label: 'Largest number',
      help: 'The largest of the numbers that are asked about.',
      default: 60,
      min: 10,
      max: 999,
      step: 1,
      unit: 'value',
    },
  ],
  properties: [
    {
      id: 'coprime',
      label: 'whether the numbers have no common factor',
      of: ({ ground_truth }) => (ground_truth === '1' ? 'yes' : 'no'),
    },
  ],
  create: ({ max_value }) => {
    const digits = String(max_value).length
    const phi = totients(max_value)
    // Kind g − 1: the pairs g·x, g·y where x and y have no common factor.
    const kinds = Array.from({ length: max_value }, (_, kind) => {
      const upTo = Math.floor(max_value / (kind + 1))
      return BigInt(2 * phi.slice(1, upTo + 1).reduce((sum, count) => sum + count, 0) - 1)
    })
    return numberedTask({
      id: 'gcd',
      name: `value=${max_value}`,
      tokenizer: arithmetic,
      max_prompt_length: 2 * digits + 2,
      max_response_length: digits + 1,
      kinds,
      most: PAIRS_PER_NUMBER * max_value,
      pose: (index, kind) => {
        const divisor = kind + 1
        const [a, b] = coprimePair(Number(index), phi).map((x) => x * divisor)
        return { prompt: `${a},${b}=`, ground_truth: String(divisor) }
      },
      pattern: /^(\d+),(\d+)=$/,
      example: '12,18=',
      answer: ([, a, b]) => String(gcdOf(Number(a), Number(b))),
    })
  },
}
