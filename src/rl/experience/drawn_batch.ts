// Holds the responses of one step with their scores.
import type { Reward, Scored } from '../../tasks/rewards/composed.ts'
import type { Sample } from '../../tasks/task/task.ts'
import type { RewardComponent } from '../estimators/estimator.ts'
import type { RolloutBatch } from './batch.ts'

/** A part of a response that one of the two wrote. */
export interface Spoken {
  readonly role: 'assistant' | 'tool'
  readonly text: string
}

/** One batch of responses, judged. Rows have the order in which mini-batches are cut from them. */
export interface DrawnBatch extends Omit<Scored, 'scores'> {
  readonly samples: readonly Sample[]
  readonly batch: RolloutBatch
  readonly texts: readonly string[]
  /** Of each row the parts that policy and tools wrote, one after the other; where rows have
   * several turns. */
  readonly spoken?: readonly (readonly Spoken[])[]
  /** What is trained on of each row: the task's score or the reward model's, [B]. */
  readonly scores: readonly number[]
  /** The task's score of each row, or that of the experiment's reward, [B]. */
  readonly taskScores: readonly number[]
  /** With penalties, at the last token of each row; [B, R]. */
  readonly token_level_scores: Float64Array
  /** Prompt of each row, [B]. */
  readonly index: readonly number[]
  /** ReMax: score of one greedy response to each row's prompt, [B]. */
  readonly reward_baselines?: readonly number[]
  /** [B, R], where rollout correction needs them. */
  readonly rollout_log_probs?: Float32Array
  /** The place of each row when it was sampled, [B]. */
  readonly order: readonly number[]
  /** What choosing from several batches found. */
  readonly metrics: Readonly<Record<string, number>>
}

/** What a composed reward says of one response. */
export interface RewardParts {
  /** Parts by their names, without their weights; absent without a composed reward. */
  readonly reward_parts?: Readonly<Record<string, number>>
  /** Why the response could not be scored, and scores 0. */
  readonly reward_problem?: string
}

/** The parts of the reward of one row. */
export function rewardPartsOf(
  { columns, problems }: Pick<DrawnBatch, 'columns' | 'problems'>,
  row: number,
): RewardParts {
  if (columns.size === 0) return {}
  const known = [...columns].flatMap(([name, { [row]: score }]) =>
    score === undefined ? [] : [[name, score] as const],
  )
  const problem = problems.find((own) => own.row === row)
  return {
    reward_parts: Object.fromEntries(known),
    ...(problem && { reward_problem: `${problem.part}: ${problem.message}` }),
  }
}

/** The parts of a composed reward with their weights, where there is one; a part that failed counts
 * 0, as in the sum. */
export function rewardComponents(
  { columns }: Pick<DrawnBatch, 'columns'>,
  reward: Pick<Reward, 'parts' | 'weights'> | undefined,
): readonly RewardComponent[] | undefined {
  return reward?.parts.map((name, i) => ({
    weight: reward.weights[i],
    scores: Float64Array.from(columns.get(name) ?? [], (score) => score ?? 0),
  }))
}
