// Asks for products that a small model cannot work out itself, with demonstrations that sometimes
// call a calculator.

import { splitProblems } from '../task/problems.ts'
import type { TaskKind } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'
import { digitsParam } from './addition.ts'

/** `37*84=` → `3108`; a demonstration says so at once, or `[37*84]3108>3108`, where a tool writes
 * `3108>` (tools/marked_turns.ts). */
export const calculator_products: TaskKind = {
  id: 'calculator_products',
  name: 'Products with a calculator',
  summary:
    'Multiply two numbers. Some demonstrations call a calculator with [37*84] and copy its answer; the others just know. With the tool calculator and two turns the reward can choose.',
  params: [
    digitsParam,
    {
      name: 'tool_share',
      label: 'Demonstrations with the tool',
      help: 'Share of the demonstrations that call the calculator; the others show the product at once.',
      default: 0.2,
      min: 0.05,
      max: 1,
      step: 0.05,
      unit: 'share',
    },
  ],
  create: ({ digits, tool_share }) => {
    const low = digits === 1 ? 0 : 10 ** (digits - 1)
    const numbers = 10 ** digits - low
    const { draw, test_size, train_size } = splitProblems(`products digits=${digits}`, numbers ** 2)
    return {
      id: 'calculator_products',
      tokenizer: arithmetic,
      max_prompt_length: 2 * digits + 2,
      // The call, the tool's answer with its end, the product, and the end token.
      max_response_length: 2 * digits + 3 + (2 * digits + 1) + (2 * digits + 1),
      test_size,
      train_size,
      exact_match: true,
      sample(seed, index, split) {
        const { problem, chance } = draw(seed, index, split)
        const [a, b] = [low + Math.floor(problem / numbers), low + (problem % numbers)]
        const product = String(a * b)
        return {
          prompt: `${a}*${b}=`,
          ground_truth: product,
          demonstration: chance < tool_share ? `[${a}*${b}]${product}>${product}` : product,
        }
      },
      score(prompt, response) {
        const match = /^(\d+)\*(\d+)=$/.exec(prompt)
        if (!match)
          throw new RangeError(`calculator_products: expected a prompt like 37*84=, got ${prompt}`)
        return response === String(Number(match[1]) * Number(match[2])) ? 1 : 0
      },
    }
  },
}
