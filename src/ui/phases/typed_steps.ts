// Reads a number of steps as a person types it.
import { MAX_STEPS } from '../../document/experiment/fields/phase_fields.ts'

/** Why what was typed is no number of steps; undefined where it is one. */
export function stepsProblem(typed: string): string | undefined {
  const steps = Number(typed)
  if (typed.trim() === '') return 'How many steps?'
  if (!Number.isInteger(steps)) return 'Steps are counted in whole numbers.'
  if (steps < 1) return 'A phase has at least 1 step.'
  return steps > MAX_STEPS ? `A phase has at most ${MAX_STEPS} steps.` : undefined
}
