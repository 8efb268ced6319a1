// Lists the rewards.
import type { Task, TaskAspect } from '../task/task.ts'
import { distinct_ngrams } from './distinct_ngrams.ts'
import { edit_distance } from './edit_distance.ts'
import { equation } from './equation.ts'
import { exact_match } from './exact_match.ts'
import { format } from './format.ts'
import { json_schema } from './json_schema.ts'
import { length } from './length.ts'
import { mentions } from './mentions.ts'
import { multiple_choice } from './multiple_choice.ts'
import { normalised_match } from './normalised_match.ts'
import { number_match } from './number_match.ts'
import { regex } from './regex.ts'
import type { RewardKind } from './reward.ts'

/** Every kind of reward but a program, in the order of the list. */
export const REWARDS: readonly RewardKind[] = [
  exact_match,
  normalised_match,
  number_match,
  multiple_choice,
  equation,
  edit_distance,
  regex,
  json_schema,
  format,
  length,
  mentions,
  distinct_ngrams,
]

/** The id of the task's own score as a part. */
const TASK_ID = 'task'

/** The task's own score as a kind of reward. */
const taskReward = (task: Task): RewardKind => ({
  id: TASK_ID,
  label: 'The task’s own score',
  help: 'What the task itself says of the response.',
  params: [],
  is_verifier: true,
  create:
    () =>
    ({ solution_str, extra_info }) =>
      task.score(extra_info.prompt, solution_str),
})

/** What the task says beside its score as a kind of reward. */
const aspectReward = ({ id, label, help, of }: TaskAspect): RewardKind => ({
  id,
  label,
  help,
  params: [],
  is_verifier: false,
  create:
    () =>
    ({ solution_str, extra_info }) =>
      of(extra_info.prompt, solution_str),
})

/** The kinds that a part of this task's reward may have, but a program. */
export const rewardKinds = (task: Task): readonly RewardKind[] => [
  taskReward(task),
  ...(task.aspects ?? []).map(aspectReward),
  ...REWARDS,
]
