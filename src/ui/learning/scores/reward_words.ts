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
  const { asked } = mainMeasure(experiment)
  const { partial_score } = taskCard(task, 0)
  if (asked && partial_score !== undefined)
    return `Of ${validation.prompts} ${posedWords(task)} that are never trained on, sampled: the share with what is rewarded, and the share that the task itself scores 1. Its score: ${partial_score}.`
  if (reward.parts.length > 0)
    return 'Mean of this experiment’s reward on training prompts; share of answers that count as right, whatever the reward, on problems never trained on.'
  return partial_score === undefined
    ? 'Share of correct answers: on training prompts, and on problems never trained on.'
    : 'Mean score on training prompts, where a wrong answer can count in part; share of correct answers on problems never trained on.'
}
