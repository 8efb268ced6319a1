// Poses the task of sorting the digits of a string.

import type { TaskKind } from '../task/task.ts'
import { digitStringTask, lengthParam } from './digit_string.ts'

/** `382910>` → `012389`. */
export const sort_digits: TaskKind = {
  id: 'sort_digits',
  name: 'Sort digits',
  summary: 'Write the digits of a string in ascending order.',
  params: [lengthParam],
  properties: [
    {
      id: 'repeated',
      label: 'whether a digit occurs twice',
      of: ({ ground_truth }) => (/(.)\1/.test(ground_truth) ? 'yes' : 'no'),
    },
  ],
  create: ({ length }) =>
    digitStringTask('sort_digits', length, (digits) => [...digits].sort().join('')),
}
