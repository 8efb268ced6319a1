// Poses the task of answering a question about a list of numbers: turned round, its largest, its
// sum, how many.
import { numberedTask } from '../task/numbered_task.ts'
import { choices } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { letters } from '../tokenizers/letters.ts'

const QUESTIONS: Readonly<Record<string, (list: readonly number[]) => string>> = {
  rev: (list) => list.toReversed().join(),
  max: (list) => String(Math.max(...list)),
  sum: (list) => String(list.reduce((a, b) => a + b, 0)),
  len: (list) => String(list.length),
}
const NAMES = Object.keys(QUESTIONS)

/** `rev,3,17,5=` → `5,17,3`; `max,3,17,5=` → `17`; `sum,3,17,5=` → `25`; `len,3,17,5=` → `3`. */
export const list_functions: TaskKind = {
  id: 'list_functions',
  name: 'List questions',
  summary:
    'Turn a list of numbers round (rev), or name its largest (max), its sum, or how many there are (len).',
  params: [
    {
      name: 'max_size',
      label: 'Longest list',
      help: 'Numbers in the longest lists; the shortest have two.',
      default: 4,
      min: 2,
      max: 10,
      step: 1,
      unit: 'numbers',
    },
    {
      name: 'max_value',
      label: 'Largest number',
      help: 'The largest number in a list; the smallest is 0.',
      default: 9,
      min: 4,
      max: 99,
      step: 1,
      unit: 'value',
    },
  ],
  short_run: { max_size: 3 },
  create: ({ max_size, max_value }) => {
    const digits = String(max_value).length
    const written = max_size * digits + max_size - 1
    const kinds = NAMES.flatMap((name) =>
      Array.from({ length: max_size - 1 }, (_, i) => ({ name, size: i + 2 })),
    )
    return numberedTask({
      id: 'list_functions',
      name: `size=${max_size} value=${max_value}`,
      tokenizer: letters,
      max_prompt_length: written + 5,
      max_response_length: written + 1,
      // The largest kind would be nearly all of the problems.
      most: 2 ** 14,
      kinds: kinds.map(({ size }) => BigInt(max_value + 1) ** BigInt(size)),
      pose: (index, kind) => {
        const { name, size } = kinds[kind]
        const list = choices(index, new Array(size).fill(max_value + 1))
        return { prompt: `${name},${list}=`, ground_truth: QUESTIONS[name](list) }
      },
      pattern: /^(rev|max|sum|len)((?:,\d+)+)=$/,
      example: 'rev,3,17,5=',
      answer: ([, name, list]) => QUESTIONS[name](list.slice(1).split(',').map(Number)),
    })
  },
}
