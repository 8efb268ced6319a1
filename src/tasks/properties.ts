// Lists what a probe can look for in a model's states: two properties of any problem, and those
// that the kind of a task declares.
import { TASKS } from './index.ts'
import type { TaskProperty } from './task/task.ts'

/** Known of any problem; what a model makes of it says them. */
const ANY: readonly Omit<TaskProperty, 'of'>[] = [
  { id: 'right', label: 'whether the model will answer right' },
  { id: 'next_token', label: 'the next token of the right answer' },
]

const ownOf = (taskId: string): readonly TaskProperty[] =>
  TASKS.find(({ id }) => id === taskId)?.properties ?? []

/** Every property of a task's problems. */
export const propertiesOf = (taskId: string): readonly Omit<TaskProperty, 'of'>[] => [
  ...ANY,
  ...ownOf(taskId),
]

/** A property by its id, with `of` where the problem alone says it. Throws RangeError naming the
 * legal ones. */
export function propertyOf(
  taskId: string,
  id: string,
): Omit<TaskProperty, 'of'> & Partial<Pick<TaskProperty, 'of'>> {
  const all = propertiesOf(taskId)
  const found = all.find((property) => property.id === id)
  if (!found)
    throw new RangeError(
      `property: expected one of ${all.map((property) => property.id).join(', ')}, got ${id}`,
    )
  return found
}
