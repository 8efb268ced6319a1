// The score of responses as texts: by the task itself, or by the reward of the experiment.
import type { Scored } from '../../../tasks/rewards/composed.ts'
import { isRight, type Sample } from '../../../tasks/task.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'

/** verl's num_turns of a response that was written at once: the prompt, and the response. */
const ONE_TURN = 2

/**
 * Scores responses. The task's own score is 0 for one that did not end; a composed reward sees every text, cut off or not, as verl's do.
 */
export async function scoreTexts(
  { task, reward }: Pick<TrainerConfig, 'task' | 'reward'>,
  samples: readonly Sample[],
  texts: readonly string[],
  is_ended: readonly boolean[],
  num_turns?: readonly number[],
): Promise<Scored> {
  if (reward)
    return reward.score(
      samples.map(({ prompt, ground_truth, data_source = task.id, extra_info }, b) => ({
        data_source,
        solution_str: texts[b],
        ground_truth,
        extra_info: { ...extra_info, prompt, num_turns: num_turns?.[b] ?? ONE_TURN },
      })),
    )
  const scores = samples.map(({ prompt }, b) => (is_ended[b] ? task.score(prompt, texts[b]) : 0))
  return { scores, is_right: scores.map(isRight), columns: new Map(), problems: [] }
}
