// Poses sums and differences of several numbers.
import { numberedTask } from '../task/numbered_task.ts'
import { choices } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

/** `12+34-5` → 41. */
const sumOf = (chain: string): number =>
  (chain.match(/[+-]?\d+/g) ?? []).reduce((sum, term) => sum + Number(term), 0)

/** `12+34-50=` → `-4`. */
export const chain_sum: TaskKind = {
  id: 'chain_sum',
  name: 'Chain of sums',
  summary: 'Work out a chain of additions and subtractions; the result may be negative.',
  params: [
    {
      name: 'max_terms',
      label: 'Most numbers',
      help: 'Numbers in the longest chains; the shortest have two.',
      default: 3,
      min: 2,
      max: 6,
      step: 1,
      unit: 'numbers',
    },
    {
      name: 'max_digits',
      label: 'Most digits',
      help: 'Digits of the largest numbers; the smallest is 0.',
      default: 2,
      min: 1,
      max: 5,
      step: 1,
      unit: 'digits',
    },
  ],
  short_run: { max_terms: 2 },
  properties: [
    {
      id: 'negative',
      label: 'whether the result is negative',
      of: ({ ground_truth }) => (ground_truth.startsWith('-') ? 'yes' : 'no'),
    },
  ],
  create: ({ max_terms, max_digits }) => {
    const numbers = 10 ** max_digits
    const basesOf = (kind: number) => [
      ...new Array(kind + 2).fill(numbers),
      ...new Array(kind + 1).fill(2),
    ]
    return numberedTask({
      id: 'chain_sum',
      name: `terms=${max_terms} digits=${max_digits}`,
      tokenizer: arithmetic,
      max_prompt_length: max_terms * (max_digits + 1),
      // The largest sum has at most one digit more, the smallest a sign before it.
      max_response_length: max_digits + 3,
      kinds: Array.from({ length: max_terms - 1 }, (_, kind) =>
        basesOf(kind).reduce((product: bigint, base: number) => product * BigInt(base), 1n),
      ),
      pose: (index, kind) => {
        const chosen = choices(index, basesOf(kind))
        const signs = chosen.slice(kind + 2)
        const chain = chosen
          .slice(0, kind + 2)
          .map((term, i) => (i === 0 ? `${term}` : `${signs[i - 1] === 0 ? '+' : '-'}${term}`))
          .join('')
        return { prompt: `${chain}=`, ground_truth: String(sumOf(chain)) }
      },
      pattern: /^(\d+(?:[+-]\d+)+)=$/,
      example: '12+34-5=',
      answer: ([, chain]) => String(sumOf(chain)),
    })
  },
}
