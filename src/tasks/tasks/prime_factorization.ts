// Poses the task of taking a number apart into primes.
import { numberedTask } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

/** Ascending; of a number from 2. */
function factorsOf(value: number): number[] {
  const factors: number[] = []
  let rest = value
  for (let factor = 2; factor * factor <= rest; factor++)
    for (; rest % factor === 0; rest /= factor) factors.push(factor)
  return rest > 1 ? [...factors, rest] : factors
}

/** Whether a text is primes with × between them that multiply to `value`, in any order. */
function multipliesTo(text: string, value: number): boolean {
  if (!/^[1-9]\d*(\*[1-9]\d*)*$/.test(text)) return false
  const given = text.split('*').map(Number)
  return given.sort((a, b) => a - b).join() === factorsOf(value).join()
}

/** `84=` → `2*2*3*7`; the order of the primes is free. */
export const prime_factorization: TaskKind = {
  id: 'prime_factorization',
  name: 'Prime factors',
  summary: 'Write a number as a product of primes, in any order.',
  params: [
    {
      name: 'max_value',
      label: 'Largest number',
      help: 'The largest number that is taken apart; the smallest is 2.',
      default: 99,
      min: 16,
      max: 9999,
      step: 1,
      unit: 'value',
    },
  ],
  properties: [
    {
      id: 'prime',
      label: 'whether the number is prime',
      of: ({ ground_truth }) => (ground_truth.includes('*') ? 'no' : 'yes'),
    },
  ],
  create: ({ max_value }) => {
    // The longest are powers of 2.
    const longest = 2 * Math.floor(Math.log2(max_value)) - 1
    return numberedTask({
      id: 'prime_factorization',
      name: `value=${max_value}`,
      tokenizer: arithmetic,
      max_prompt_length: String(max_value).length + 1,
      max_response_length: longest + 1,
      kinds: [BigInt(max_value - 1)],
      pose: (index) => {
        const value = Number(index) + 2
        return { prompt: `${value}=`, ground_truth: factorsOf(value).join('*') }
      },
      pattern: /^(\d+)=$/,
      example: '84=',
      check: ([, value], response) => (multipliesTo(response, Number(value)) ? 1 : 0),
    })
  },
}
