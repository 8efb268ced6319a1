// Poses the task of reaching a number with others, each used once.
import { workOut } from '../task/expression.ts'
import { numberedTask } from '../task/numbered_task.ts'
import { choices } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

const SIGNS = '+-*'
const LARGEST_TARGET = 999

/** An expression that uses the numbers in some order: the first from place `start` on, counted
 * through all signs, that comes to a number from 1 to LARGEST_TARGET. The sum of all is one, so
 * there always is one. */
function solution(numbers: readonly number[], start: number): string {
  const bases = new Array(numbers.length - 1).fill(SIGNS.length)
  const ways = SIGNS.length ** bases.length
  const turned = numbers.map((_, i) => numbers[(i + start) % numbers.length])
  for (let way = start; ; way++) {
    const signs = choices(BigInt(way % ways), bases)
    const text = turned.map((number, i) => (i === 0 ? '' : SIGNS[signs[i - 1]]) + number).join('')
    const value = workOut(text)?.value ?? 0
    if (value >= 1 && value <= LARGEST_TARGET) return text
  }
}

/** Whether an expression uses exactly these numbers and comes to the target. */
function reaches(text: string, numbers: readonly number[], target: number): boolean {
  const worked = workOut(text)
  const inOrder = (list: readonly number[]) => list.toSorted((a, b) => a - b).join()
  return (
    worked !== undefined &&
    inOrder(worked.numbers) === inOrder(numbers) &&
    // Quotients are rounded.
    Math.abs(worked.value - target) < 1e-9
  )
}

/** `3,4,5=17` → `3*4+5`: any expression with + - * / and brackets that uses each number once. */
export const countdown: TaskKind = {
  id: 'countdown',
  name: 'Countdown',
  summary:
    'Write an expression that uses each of the numbers once and comes to the number behind the equals sign; any that does is right.',
  params: [
    {
      name: 'numbers',
      label: 'Numbers',
      help: 'How many numbers there are to use.',
      default: 3,
      min: 2,
      max: 5,
      step: 1,
      unit: 'numbers',
    },
    {
      name: 'max_value',
      label: 'Largest number',
      help: 'The largest of the numbers to use.',
      default: 9,
      min: 4,
      max: 99,
      step: 1,
      unit: 'value',
    },
  ],
  create: ({ numbers: count, max_value }) => {
    const digits = String(max_value).length
    return numberedTask({
      id: 'countdown',
      name: `numbers=${count} value=${max_value}`,
      tokenizer: arithmetic,
      max_prompt_length: count * (digits + 1) + String(LARGEST_TARGET).length,
      // Room for two pairs of brackets.
      max_response_length: count * (digits + 1) - 1 + 4 + 1,
      kinds: [BigInt(max_value) ** BigInt(count)],
      pose: (index) => {
        const numbers = choices(index, new Array(count).fill(max_value)).map((i) => i + 1)
        const ground_truth = solution(numbers, Number(index % 10_007n))
        const target = workOut(ground_truth)?.value
        return { prompt: `${numbers}=${target}`, ground_truth }
      },
      pattern: /^(\d+(?:,\d+)+)=(\d+)$/,
      example: '3,4,5=17',
      check: ([, numbers, target], response) =>
        reaches(response, numbers.split(',').map(Number), Number(target)) ? 1 : 0,
    })
  },
}
