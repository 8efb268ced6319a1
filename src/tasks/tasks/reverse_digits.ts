// Poses the task of reversing a string of digits.

import type { TaskKind } from '../task/task.ts'
import { digitStringTask, lengthParam } from './digit_string.ts'

/** `382910>` → `019283`. */
export const reverse_digits: TaskKind = {
  id: 'reverse_digits',
  name: 'Reverse digits',
  summary: 'Write a string of digits backwards.',
  params: [lengthParam],
  create: ({ length }) =>
    digitStringTask('reverse_digits', length, (digits) => [...digits].reverse().join('')),
}
