// Puts a task's score of a response into one of three words.
import { isRight } from '../../tasks/task/task.ts'

/** right: it counts in accuracy. partly: the task gives it a part of the score. */
export type Verdict = 'right' | 'partly' | 'wrong'

export const verdictOf = (score: number): Verdict =>
  isRight(score) ? 'right' : score > 0 ? 'partly' : 'wrong'
