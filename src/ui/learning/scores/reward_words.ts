// Says in words what the chart of scores shows.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { taskCard } from '../../../document/experiment/task_card.ts'
import { mainMeasure, posedWords } from '../../shown/measure/main_measure.ts'

/** Of what the lines of the chart of scores are shares, or means. `isImported`: the run is another
 * system’s log. */
export function scoreNote(experiment: Experiment, isImported: boolean): string {
  const { task, reward, validation } = experiment
  if (isImported)
    return 'As the log has them: the mean score of its responses, and of held-out answers.'
  const { asked, isReward } = mainMeasure(experiment)
  const { partial_score } = taskCard(task, 0)
  if (asked)
    return `Held-out: of ${validation.prompts} ${posedWords(task)} that are never trained on, how many have what is rewarded, and how many are right by the task’s own score.`
  if (isReward)
    return `Held-out: the mean reward of ${validation.prompts} ${posedWords(task)} that are never trained on, and how many are right by the task’s own score.`
  if (reward.parts.length > 0)
    return 'Mean of this experiment’s reward on training prompts; share of answers that count as right, whatever the reward, on problems never trained on.'
  return partial_score === undefined
    ? 'Share of correct answers: on training prompts, and on problems never trained on.'
    : 'Mean score on training prompts, where a wrong answer can count in part; share of correct answers on problems never trained on.'
}

/** What the task's own score is, beside a reward that asks for something else. */
export function ownScoreHelp({ task }: Experiment): string {
  const { partial_score } = taskCard(task, 0)
  const says = 'Share of the same answers that the task itself counts as right, whatever the reward'
  return partial_score === undefined ? says : `${says}. Its score: ${partial_score}`
}
