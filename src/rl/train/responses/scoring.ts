// Computes the score of responses as texts: by the task itself, or by the reward of the experiment.
import { type Scored, someScored } from '../../../tasks/rewards/composed.ts'
import { responseTo, type Written } from '../../../tasks/rewards/response.ts'
import { isRight, type Sample } from '../../../tasks/task/task.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'

/** Scores responses. The task's own score is 0 for one that did not end; a composed reward sees
 * every text, cut off or not, as verl's do. Throws RewardError where not one of them can be
 * scored. */
export async function scoreTexts(
  { task, reward }: Pick<TrainerConfig, 'task' | 'reward'>,
  samples: readonly Sample[],
  texts: readonly string[],
  isEnded: readonly boolean[],
  written: readonly Written[],
): Promise<Scored> {
  if (reward) {
    const responses = samples.map((own, b) => responseTo(own, task, texts[b], written[b]))
    return someScored(await reward.score(responses))
  }
  const scores = samples.map(({ prompt }, b) => (isEnded[b] ? task.score(prompt, texts[b]) : 0))
  return { scores, is_right: scores.map(isRight), columns: new Map(), problems: [] }
}
