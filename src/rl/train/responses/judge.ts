// Gives responses as batches, as texts and with their scores.
import type { Scored } from '../../../tasks/rewards/composed.ts'
import type { Sample, Task } from '../../../tasks/task/task.ts'
import type { TurnFormat } from '../../../tasks/tools/turn_format.ts'
import { overlongReward } from '../../config/overlong.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import {
  type BatchTurns,
  makeBatch,
  promptBatch,
  type RolloutBatch,
  widenRows,
} from '../../experience/batch.ts'
import type { Spoken } from '../../experience/drawn_batch.ts'
import { spokenIn, withoutObserved } from '../../experience/turns.ts'
import { scoreTexts } from './scoring.ts'

/** Responses with their scores: the task's, or those of the experiment's reward. */
export interface Judged extends Scored {
  readonly batch: RolloutBatch
  readonly texts: readonly string[]
  readonly spoken?: readonly (readonly Spoken[])[]
}

type Judging = Pick<TrainerConfig, 'task' | 'reward'>

/** Makes batches with the columns of the actor's, and has them scored. */
export class Judge {
  #by: Judging
  #task: Task
  /** R of the actor's batches, the longest response of any phase. */
  #columns: number
  #format: TurnFormat | undefined

  /** `format`: how calls of tools are written, where the run has any. */
  constructor(by: Judging, columns: number, format?: TurnFormat) {
    this.#by = by
    this.#task = by.task
    this.#columns = columns
    this.#format = format
  }

  /** Responses [B, R] as a batch and as text, with their scores. What is scored of a conversation
   * its format says. */
  async judge(
    samples: readonly Sample[],
    { response_ids, turns }: { readonly response_ids: Uint32Array; readonly turns?: BatchTurns },
    R: number,
  ): Promise<Judged> {
    const task = this.#task
    const batch = this.#makeBatch(samples, response_ids, R, turns)
    const format = turns && this.#format
    const spoken = format && samples.map((_, b) => spokenIn(batch, b, format))
    const texts = samples.map((_, b) => {
      const ids = response_ids.subarray(b * R, (b + 1) * R)
      return format
        ? format.text([...ids.subarray(0, batch.response_lengths[b])])
        : task.tokenizer.decode(ids)
    })
    const answers = format ? texts.map((text) => format.answer(text)) : texts
    const written = samples.map((_, b) => ({
      ids: response_ids.subarray(b * R, b * R + batch.response_lengths[b]),
      num_turns: turns?.num_turns[b],
    }))
    const scored = await scoreTexts(this.#by, samples, answers, batch.is_ended, written)
    return { batch, texts, ...scored, ...(spoken && { spoken }) }
  }

  /** Problems with the given texts as their responses. What a tool would write in them has mask
   * 0. */
  batchOf(samples: readonly Sample[], texts: readonly string[]): RolloutBatch {
    const { tokenizer } = this.#task
    const R = this.#columns
    const response_ids = new Uint32Array(samples.length * R).fill(tokenizer.pad_token_id)
    texts.forEach((text, b) => {
      const ids = [...tokenizer.encode(text), tokenizer.eos_token_id]
      response_ids.set(ids.slice(0, R), b * R)
    })
    const batch = this.#makeBatch(samples, response_ids, R)
    const format = this.#format
    if (!format) return batch
    return withoutObserved(
      batch,
      texts.map((text) => format.observed(text)),
    )
  }

  /** [B, R] of a phase with shorter responses, in the actor's columns. */
  widen(values: Float32Array, R: number): Float32Array {
    return widenRows(values, R, this.#columns, 0)
  }

  #makeBatch(
    samples: readonly Sample[],
    response_ids: Uint32Array,
    R: number,
    turns?: BatchTurns,
  ): RolloutBatch {
    const task = this.#task
    const { tokenizer } = task
    const width = this.#columns
    const ids = widenRows(response_ids, R, width, tokenizer.pad_token_id)
    const size = {
      rows: samples.length,
      prompt_length: task.max_prompt_length,
      response_length: width,
    }
    return makeBatch(promptBatch(samples, task), ids, size, tokenizer.eos_token_ids, {
      max_response_length: R,
      turns,
    })
  }
}

/** Scores with DAPO's penalty for responses that come close to the maximum length, where a phase
 * has one. */
export function penalised(
  { algorithm, rollout }: RlPhase,
  scores: readonly number[],
  { response_lengths }: RolloutBatch,
): readonly number[] {
  const { overlong_buffer } = algorithm
  const { len, penalty_factor } = overlong_buffer
  if (len === null) return scores
  const buffer = { len, penalty_factor, max_resp_len: rollout.max_response_length }
  return scores.map((score, b) => score + overlongReward(response_lengths[b], buffer))
}
