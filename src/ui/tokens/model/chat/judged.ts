// Judges what a model wrote as its task does, where it was asked one of the task's own problems.
import { taskOf } from '../../../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../../../document/experiment/schema/schema.ts'

/** Where the problems come from. */
export type Judging = Pick<Experiment, 'task' | 'seed'>

export interface Judged {
  readonly score: number
  /** What is right; undefined where the problem is not found among those of the seed. */
  readonly right: string | undefined
  /** What the score measures, where no answer alone is the right one. */
  readonly checks: string | undefined
}

/** Problems that are looked through for what is right. */
const MOST = 4000

/** Tokens that an answer to a task takes at most; undefined where texts of any length are right. */
export function answerTokens({ task: choice }: Judging): number | undefined {
  try {
    const task = taskOf(choice)
    return task.aspects ? undefined : task.max_response_length
  } catch {
    return undefined
  }
}

/** Undefined where the prompt is none of the task. */
export function judged(
  { task: choice, seed }: Judging,
  prompt: string,
  response: string,
): Judged | undefined {
  try {
    const task = taskOf(choice)
    const score = task.score(prompt, response)
    const found = (split: 'test' | 'train_set', size: number) => {
      for (let i = 0; i < Math.min(MOST, size); i++) {
        const sample = task.sample(seed, i, split)
        if (sample.prompt === prompt) return sample.ground_truth
      }
      return undefined
    }
    const right = found('test', task.test_size) ?? found('train_set', task.train_size)
    return { score, right, checks: task.aspects ? task.partial_score : undefined }
  } catch {
    return undefined
  }
}
