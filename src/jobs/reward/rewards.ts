// Builds reward.py of a job, with the score of its task in Python. src/cli/outside_judges.test.ts
// compares each with the task's own.
import { storyGrammar } from '../../tasks/stories/grammar.ts'
import type { Task } from '../../tasks/task/task.ts'
import { JobError } from '../settings/job_error.ts'
import reward from '../templates/reward.py?raw'
import bracket_repair from '../templates/scores/bracket_repair.py?raw'
import countdown from '../templates/scores/countdown.py?raw'
import exact_match from '../templates/scores/exact_match.py?raw'
import mini_sudoku from '../templates/scores/mini_sudoku.py?raw'
import prime_factorization from '../templates/scores/prime_factorization.py?raw'
import share_of_places from '../templates/scores/share_of_places.py?raw'
import shortest_path from '../templates/scores/shortest_path.py?raw'
import story from '../templates/scores/story.py?raw'

/** The score of every task that gives points for more than the ground truth, by its id. */
const SCORES: Readonly<Record<string, string>> = {
  prime_factorization,
  countdown,
  spell_backward: share_of_places,
  caesar_cipher: share_of_places,
  bracket_repair,
  mini_sudoku,
  shortest_path,
  story: story.replace('{GRAMMAR}', storyGrammar),
}

type Scoring = Pick<Task, 'id' | 'exact_match'>

/** The source of reward.py. Throws JobError for a task whose score does not exist in Python. */
export const rewardOf = (task: Scoring): string =>
  reward.replace('# SCORE', () => scoreOf(task).trimEnd())

/** The score of a task in Python: a function `score` of prompt, response and ground truth. */
export function scoreOf({ id, exact_match: isExact }: Scoring): string {
  const score = isExact ? exact_match : SCORES[id]
  if (score === undefined)
    throw new JobError(
      `task.id: the task ${id} scores more than the exact answer, and its score does not exist in Python; add it to src/jobs/templates/scores and to SCORES in src/jobs/reward/rewards.ts`,
    )
  return score
}
