// Finds where a slider stops, where another setting divides its values.
import { withField } from '../../../document/experiment/experiment.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'

/** How far a whole number is looked for. */
const REACH = 64

/** The whole number nearest to `value` that the settings take, where only the rule of another
 * setting, such as the mini-batch, is in the way; `by` looks in the direction of its sign alone.
 * `value` itself where there is none. */
export function nearestTaken(experiment: Experiment, path: string, value: number, by = 0): number {
  const why = (at: number) => {
    const result = withField(experiment, path, at)
    return result.ok ? undefined : result.message
  }
  const refused = why(value)
  if (refused === undefined || refused.startsWith(`${path}:`)) return value
  for (let far = 1; far <= REACH; far++)
    for (const side of by === 0 ? [-1, 1] : [Math.sign(by)]) {
      const at = value + side * far
      if (at > 0 && why(at) === undefined) return at
    }
  return value
}
