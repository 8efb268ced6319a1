// Says in words what the chart of scores shows.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { taskCard } from '../../../document/experiment/task_card.ts'
import type { RunSource } from '../../../record/run/record.ts'
import { mainMeasure, posedWords } from '../../shown/measure/main_measure.ts'

/** Metrics that a note names. */
const MAX_NAMED = 4

/** What a log calls the metrics that are drawn: 'In the log: reward; eval_a_reward' */
export function logNote({ names = {} }: RunSource, metrics: readonly string[]): string {
  const called = [...new Set(metrics.map((metric) => names[metric] ?? metric))]
  const more = called.length - MAX_NAMED
  const named = called.slice(0, MAX_NAMED).join('; ')
  return more > 0 ? `In the log: ${named}; and ${more} more` : `In the log: ${named}`
}

/** Of what the lines of the chart of scores are shares, or means. */
export function scoreNote(experiment: Experiment): string {
  const { task, reward, validation } = experiment
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
