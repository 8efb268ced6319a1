// Says how runs of different lengths are compared, before they are trained.
import { type Arm, stepsOf } from '../arms.ts'
import type { Study } from '../study.ts'

/** What a run counts with, as measure.ts takes it. */
const COUNTS = {
  end: 'its last value',
  first: 'its first value behind the start',
  last: 'the mean of its last five values',
  area: 'the mean height of its curve',
  level: 'its value at the level that all arms of the seed reach',
} as const

/** How arms that are not equally long are compared; undefined where all are. */
export function lengthSentence(
  { measure, budget }: Pick<Study, 'measure' | 'budget'>,
  arms: readonly Arm[],
): string | undefined {
  const lengths = arms.map(({ experiment }) => stepsOf(experiment))
  const [few, many] = [Math.min(...lengths), Math.max(...lengths)]
  if (arms.length === 0 || few === many) return undefined
  return `The arms take ${few} to ${many} steps. Each run counts with ${COUNTS[measure.at]} within the ${budget.same} of reinforcement that all runs have spent; what comes later does not count.`
}

/** Why arms have other steps than their settings say; undefined where none has. */
export const budgetSays = (
  { budget }: Pick<Study, 'budget'>,
  arms: readonly Arm[],
): string | undefined =>
  arms.some(({ stepsAsSet }) => stepsAsSet !== undefined)
    ? `For an equal budget the last phase of reinforcement of each arm is as long as it takes to spend as many ${budget.same} as what the study begins from. “Equal budget in: steps” leaves every arm its own steps.`
    : undefined
