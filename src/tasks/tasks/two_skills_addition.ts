// Poses addition problems with right and wrong demonstrations.

import type { TaskKind } from '../task/task.ts'
import { additionTask, carryProperty, digitsParam, sumWithoutCarries } from './addition.ts'

/** Some demonstrations add; the others forget every carry. */
export const two_skills_addition: TaskKind = {
  id: 'two_skills_addition',
  name: 'Two-skills addition',
  summary:
    'Add two numbers. Most demonstrations forget every carry, so the warm start holds two skills; the reward picks the right one.',
  params: [
    digitsParam,
    {
      name: 'correct_share',
      label: 'Correct demonstrations',
      help: 'Share of the demonstrations that add correctly; the others forget every carry.',
      default: 0.25,
      min: 0,
      max: 1,
      step: 0.05,
      unit: 'share',
    },
  ],
  properties: [carryProperty],
  create: ({ digits, correct_share }) =>
    additionTask('two_skills_addition', digits, (a, b, chance) =>
      chance < correct_share ? String(a + b) : sumWithoutCarries(a, b, digits),
    ),
}
