// Poses linear equations with one unknown.
import { numberedTask } from '../task/numbered_task.ts'
import { choices } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { alphabetOf, characters } from '../tokenizers/characters.ts'

const tokenizer = characters(alphabetOf(['0123456789', '+-*=?', 'x']))

/** `3*x-4=11?` → `5`. Solutions are whole numbers, also negative ones. */
export const simple_equations: TaskKind = {
  id: 'simple_equations',
  name: 'Simple equations',
  summary: 'Find the whole number x that makes the equation true.',
  params: [
    {
      name: 'max_factor',
      label: 'Largest factor',
      help: 'The largest number that x is multiplied by; the smallest is 1.',
      default: 5,
      min: 1,
      max: 20,
      step: 1,
      unit: 'value',
    },
    {
      name: 'max_value',
      label: 'Largest number',
      help: 'The largest solution and the largest number that is added, without their signs.',
      default: 20,
      min: 5,
      max: 99,
      step: 1,
      unit: 'value',
    },
  ],
  short_run: { max_factor: 3, max_value: 9 },
  create: ({ max_factor, max_value }) => {
    const signed = 2 * max_value + 1
    const digits = String(max_value).length
    return numberedTask({
      id: 'simple_equations',
      name: `factor=${max_factor} value=${max_value}`,
      tokenizer,
      max_prompt_length:
        String(max_factor).length + 2 + digits + 1 + `=-${(max_factor + 1) * max_value}?`.length,
      max_response_length: digits + 2,
      kinds: [BigInt(max_factor * signed * signed)],
      pose: (index) => {
        const [a, b, x] = choices(index, [max_factor, signed, signed])
        const [factor, added, solution] = [a + 1, b - max_value, x - max_value]
        const sum = `${factor}*x${added < 0 ? '-' : '+'}${Math.abs(added)}`
        return {
          prompt: `${sum}=${factor * solution + added}?`,
          ground_truth: String(solution),
        }
      },
      pattern: /^(\d+)\*x([+-]\d+)=(-?\d+)\?$/,
      example: '3*x-4=11?',
      answer: ([, factor, added, sum]) => String((Number(sum) - Number(added)) / Number(factor)),
    })
  },
}
