// Asks which of two numbers is larger.
import { numberedTask } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { alphabetOf, characters } from '../tokenizers/characters.ts'

const tokenizer = characters(alphabetOf(['0123456789', '<=>?']))

const signOf = (a: number, b: number): string => (a < b ? '<' : a > b ? '>' : '=')

/** `37?85=` → `<`. */
export const number_comparison: TaskKind = {
  id: 'number_comparison',
  name: 'Compare numbers',
  summary: 'Say whether the first number is smaller than the second, larger, or the same.',
  params: [
    {
      name: 'max_digits',
      label: 'Most digits',
      help: 'Digits of the longest numbers; most numbers have as many.',
      default: 3,
      min: 1,
      max: 9,
      step: 1,
      unit: 'digits',
    },
  ],
  properties: [
    {
      id: 'as_long',
      label: 'whether the numbers are equally long',
      of: ({ prompt }) => (prompt.indexOf('?') * 2 + 2 === prompt.length ? 'yes' : 'no'),
    },
  ],
  create: ({ max_digits }) => {
    const numbers = 10n ** BigInt(max_digits)
    return numberedTask({
      id: 'number_comparison',
      name: `digits=${max_digits}`,
      tokenizer,
      max_prompt_length: 2 * max_digits + 2,
      max_response_length: 2,
      kinds: [numbers * numbers],
      pose: (index) => {
        const [a, b] = [Number(index / numbers), Number(index % numbers)]
        return { prompt: `${a}?${b}=`, ground_truth: signOf(a, b) }
      },
      pattern: /^(\d+)\?(\d+)=$/,
      example: '37?85=',
      answer: ([, a, b]) => signOf(Number(a), Number(b)),
    })
  },
}
