// Responses as batches, as texts and with their scores.
import type { Scored } from '../../../tasks/rewards/composed.ts'
import type { Sample, Task } from '../../../tasks/task.ts'
import { overlongReward } from '../../config/overlong.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { makeBatch, promptBatch, type RolloutBatch, widenRows } from '../../experience/batch.ts'
import { scoreTexts } from './scoring.ts'

/** Responses with their scores: the task's, or those of the experiment's reward. */
export interface Judged extends Scored {
  readonly batch: RolloutBatch
  readonly texts: readonly string[]
}

type Judging = Pick<TrainerConfig, 'task' | 'reward'>

/** Makes batches with the columns of the actor's, and has them scored. */
export class Judge {
  #by: Judging
  #task: Task
  /** R of the actor's batches, the longest response of any phase. */
  #columns: number

  constructor(by: Judging, columns: number) {
    this.#by = by
    this.#task = by.task
    this.#columns = columns
  }

  /** Responses [B, R] as a batch and as text, with their scores. */
  async judge(samples: readonly Sample[], response_ids: Uint32Array, R: number): Promise<Judged> {
    const task = this.#task
    const batch = this.#makeBatch(samples, response_ids, R)
    const texts = samples.map((_, b) =>
      task.tokenizer.decode(response_ids.subarray(b * R, (b + 1) * R)),
    )
    return { batch, texts, ...(await scoreTexts(this.#by, samples, texts, batch.is_ended)) }
  }

  /** Problems with the given texts as their responses. */
  batchOf(samples: readonly Sample[], texts: readonly string[]): RolloutBatch {
    const { tokenizer } = this.#task
    const R = this.#columns
    const response_ids = new Uint32Array(samples.length * R).fill(tokenizer.pad_token_id)
    texts.forEach((text, b) => {
      const ids = [...tokenizer.encode(text), tokenizer.eos_token_id]
      response_ids.set(ids.slice(0, R), b * R)
    })
    return this.#makeBatch(samples, response_ids, R)
  }

  /** [B, R] of a phase with shorter responses, in the actor's columns. */
  widen(values: Float32Array, R: number): Float32Array {
    const width = this.#columns
    if (R === width) return values
    const wide = new Float32Array((values.length / R) * width)
    for (let b = 0; b < values.length / R; b++)
      wide.set(values.subarray(b * R, (b + 1) * R), b * width)
    return wide
  }

  #makeBatch(samples: readonly Sample[], response_ids: Uint32Array, R: number): RolloutBatch {
    const task = this.#task
    const { tokenizer } = task
    const width = this.#columns
    const ids = widenRows(response_ids, R, width, tokenizer.pad_token_id)
    const size = {
      rows: samples.length,
      prompt_length: task.max_prompt_length,
      response_length: width,
    }
    return makeBatch(promptBatch(samples, task), ids, size, tokenizer.eos_token_id, R)
  }
}

/** Scores with DAPO's penalty for responses that come close to the maximum length, where a phase has one. */
export function penalised(
  { algorithm, rollout }: RlPhase,
  scores: readonly number[],
  { response_lengths }: RolloutBatch,
): readonly number[] {
  const { overlong_buffer } = algorithm
  if (!overlong_buffer) return scores
  const buffer = { ...overlong_buffer, max_resp_len: rollout.max_response_length }
  return scores.map((score, b) => score + overlongReward(response_lengths[b], buffer))
}
