// Judges what a model wrote as its run did, or as its task does, where it was asked one of the
// task's own problems.
import { askedAspect } from '../../../../document/experiment/asked.ts'
import { taskOf } from '../../../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../../../document/experiment/schema/schema.ts'

/** Where the problems come from, and what was rewarded, where a run is known. */
export type Judging = Pick<Experiment, 'task' | 'seed'> & Partial<Pick<Experiment, 'reward'>>

export interface Judged {
  readonly score: number
  /** What is right; undefined where the problem is not found among those of the seed. */
  readonly right: string | undefined
  /** What the score measures, where no answer alone is the right one. */
  readonly checks: string | undefined
  /** What the reward asked for, and how far the text has it. */
  readonly asked: { readonly label: string; readonly score: number } | undefined
}

/** Another problem than those that were learned: one of those. */
export interface Foreign {
  readonly example: string
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

type Task = ReturnType<typeof taskOf>

/** The number that answers a problem, where one does. */
function numberOf(task: Task, prompt: string): string | undefined {
  if (!task.exact_match) return undefined
  for (let size = 0; size <= MOST; size++)
    for (const number of [size, -size])
      if (task.score(prompt, String(number)) === 1) return String(number)
  return undefined
}

/** The answer to a problem of the task; undefined where it is not found. */
function answerOf(task: Task, seed: number, prompt: string): string | undefined {
  const found = (split: 'test' | 'train_set', size: number) => {
    for (let i = 0; i < Math.min(MOST, size); i++) {
      const sample = task.sample(seed, i, split)
      if (sample.prompt === prompt) return sample.ground_truth
    }
    return undefined
  }
  return (
    found('test', task.test_size) ??
    found('train_set', task.train_size) ??
    (isForeign(task, prompt) ? undefined : numberOf(task, prompt))
  )
}

/** Whether the task never poses that: it is too long, or all problems are known. */
const isForeign = (task: Task, prompt: string): boolean =>
  task.aspects === undefined &&
  (task.tokenizer.encode(prompt).length > task.max_prompt_length ||
    task.test_size + task.train_size <= MOST)

/** Undefined where the prompt reads like none of the task. */
export function judged(
  { task: choice, seed, reward }: Judging,
  prompt: string,
  response: string,
): Judged | Foreign | undefined {
  try {
    const task = taskOf(choice)
    const score = task.score(prompt, response)
    const right = answerOf(task, seed, prompt)
    if (right === undefined && isForeign(task, prompt))
      return { example: task.sample(seed, 0, 'test').prompt }
    const aspect = reward && askedAspect({ task: choice, reward })
    return {
      score,
      right,
      checks: task.aspects ? task.partial_score : undefined,
      asked: aspect && { label: aspect.label, score: aspect.of(prompt, response) },
    }
  } catch {
    return undefined
  }
}

/** Of a model that learned several tasks, by the one that poses such problems. */
export function judgedByOne(
  tasks: readonly Judging[],
  prompt: string,
  response: string,
): Judged | Foreign | undefined {
  const said = tasks.map((task) => judged(task, prompt, response))
  const own = said.find((one) => one !== undefined && !('example' in one))
  return own ?? (said.length === 1 ? said[0] : undefined)
}
