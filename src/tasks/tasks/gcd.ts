// The greatest common divisor of two numbers.
import { numberedTask } from '../numbered_task.ts'
import type { TaskKind } from '../task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

const gcdOf = (a: number, b: number): number => (b === 0 ? a : gcdOf(b, a % b))

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
  create: ({ max_value }) => {
    const digits = String(max_value).length
    const numbers = BigInt(max_value)
    return numberedTask({
      id: 'gcd',
      name: `value=${max_value}`,
      tokenizer: arithmetic,
      max_prompt_length: 2 * digits + 2,
      max_response_length: digits + 1,
      kinds: [numbers * numbers],
      pose: (index) => {
        const [a, b] = [Number(index / numbers) + 1, Number(index % numbers) + 1]
        return { prompt: `${a},${b}=`, ground_truth: String(gcdOf(a, b)) }
      },
      pattern: /^(\d+),(\d+)=$/,
      example: '12,18=',
      answer: ([, a, b]) => String(gcdOf(Number(a), Number(b))),
    })
  },
}
