// Says what a reward asks for, where that can be said in a word, and whether its mean is a share.
import { rewardKinds } from '../../tasks/rewards/rewards.ts'
import { PROGRAM_ID } from '../../tasks/task/program.ts'
import type { TaskAspect } from '../../tasks/task/task.ts'
import { taskOf } from './fields/task_fields.ts'
import type { Experiment } from './schema/schema.ts'

/** What the task says of a text, such as a happy end, where a reward asks for that alone. */
export function askedAspect({
  reward: { parts },
  task,
}: Pick<Experiment, 'reward' | 'task'>): TaskAspect | undefined {
  const [asked, ...others] = parts.filter(({ weight }) => weight !== 0)
  if (!asked || others.length > 0 || asked.weight < 0) return undefined
  try {
    return taskOf(task).aspects?.find(({ id }) => id === asked.id)
  } catch {
    // Its rows are not here.
    return undefined
  }
}

/** What a part of a reward is called, and whether it only says yes or no; undefined for programs
 * and for a kind's second part. */
export function partCard(
  choice: Experiment['task'],
  part: string,
): { readonly label: string; readonly isYesNo: boolean } | undefined {
  try {
    const task = taskOf(choice)
    const kind = rewardKinds(task).find(({ id }) => id === part)
    const aspect = task.aspects?.find(({ id }) => id === part)
    return kind && { label: kind.label, isYesNo: aspect !== undefined && !aspect.isShare }
  } catch {
    return undefined
  }
}

/** Whether a problem has an answer that responses are compared with: a text has many good ends. */
export function hasOneAnswer(choice: Experiment['task']): boolean {
  try {
    return taskOf(choice).aspects === undefined
  } catch {
    return true
  }
}

/** The most that a reward between 0 and some number can be; undefined where it is no such reward: a
 * program says what it likes. */
export const mostReward = ({ parts }: Experiment['reward']): number | undefined =>
  parts.every(({ id, weight }) => id !== PROGRAM_ID && weight >= 0)
    ? parts.reduce((sum, { weight }) => sum + weight, 0)
    : undefined

/** Whether a reward lies between 0 and 1, so that its mean is a share: the sum of several parts may
 * exceed 1. */
export const rewardIsShare = (reward: Experiment['reward']): boolean =>
  (mostReward(reward) ?? Number.POSITIVE_INFINITY) <= 1
