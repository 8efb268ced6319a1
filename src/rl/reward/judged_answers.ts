// Collects the answers that a preference phase learns from where rows bring verdicts on single
// answers.

import type { Task } from '../../tasks/task/task.ts'
import type { Phase, PreferencePhase } from '../config/phase.ts'
import { preferenceLossOf } from '../preferences/losses.ts'
import { type Candidate, NoPairsError } from './pairs.ts'

/** An answer that was judged alone; its score is 1 where it is desirable, else 0. */
export interface JudgedAnswer {
  readonly prompt: string
  readonly answer: Candidate
}

export const isDesirable = ({ answer }: JudgedAnswer): boolean => answer.score === 1

export interface JudgedAnswers {
  /** In the order of their file. */
  readonly training: readonly JudgedAnswer[]
  /** With other prompts. */
  readonly held_out: readonly JudgedAnswer[]
}

/** Whether a phase learns from single answers of its rows, where these have verdicts. */
export const takesAnswers = ({ pairs, preference }: PreferencePhase): boolean =>
  pairs.source === 'file' && preferenceLossOf(preference.loss_type).data === 'answers'

/** Throws NoPairsError for a phase whose rows lack answers of one kind, before anything is trained:
 * rewards of both are compared. */
export function requireBothKinds(phases: readonly Phase[], { verdicts }: Task): void {
  for (const phase of phases) {
    if (!verdicts || phase.kind !== 'preference' || !takesAnswers(phase)) continue
    const { kind, preference, pairs } = phase
    const training = verdicts('train_set').slice(0, pairs.count)
    const good = training.filter(({ is_desirable }) => is_desirable).length
    if (good > 0 && good < training.length) continue
    const found = good > 0 ? 'good' : 'bad'
    throw new NoPairsError(
      `${kind}: expected good and bad answers for the loss ${preference.loss_type}, found ${training.length} ${found} ones alone among the first ${pairs.count} of the file (pairs.count); take more of them`,
    )
  }
}

/** The answers of step `step` of a phase, from 1: the file from its beginning to its end, again and
 * again, as TRL's KTOTrainer goes through it, whose KL is of neighbours in the file. */
export const answersOfStep = (
  { training }: JudgedAnswers,
  step: number,
  count: number,
): readonly JudgedAnswer[] =>
  Array.from({ length: count }, (_, i) => training[((step - 1) * count + i) % training.length])
