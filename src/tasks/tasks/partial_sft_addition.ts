// Poses addition problems with right demonstrations.

import type { TaskKind } from '../task/task.ts'
import { additionTask, carryProperty, digitsParam } from './addition.ts'

/** Addition with correct demonstrations only: the warm start is half done because its phase stops
 * early. */
export const partial_sft_addition: TaskKind = {
  id: 'partial_sft_addition',
  name: 'Half-learned addition',
  summary:
    'Add two numbers. Every demonstration is right, but the warm start stops early; the reward has to do the rest.',
  params: [digitsParam],
  properties: [carryProperty],
  create: ({ digits }) => additionTask('partial_sft_addition', digits, (a, b) => String(a + b)),
}
