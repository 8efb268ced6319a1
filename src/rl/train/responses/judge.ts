// Responses as batches, as texts and with the task's scores.
import type { Sample, Task } from '../../../tasks/task.ts'
import type { TurnFormat } from '../../../tasks/tools/turn_format.ts'
import { overlongReward } from '../../config/overlong.ts'
import type { RlPhase } from '../../config/phase.ts'
import {
  type BatchTurns,
  makeBatch,
  promptBatch,
  type RolloutBatch,
  widenRows,
} from '../../experience/batch.ts'
import type { Spoken } from '../../experience/drawn_batch.ts'
import { spokenIn, withoutObserved } from '../../experience/turns.ts'

/** Responses that the task has scored. */
export interface Judged {
  readonly batch: RolloutBatch
  readonly texts: readonly string[]
  readonly spoken?: readonly (readonly Spoken[])[]
  /** The task's score of each row, [B]; 0 for a response that did not end. */
  readonly scores: readonly number[]
}

/** Makes batches with the columns of the actor's, and has the task score them. */
export class Judge {
  #task: Task
  /** R of the actor's batches, the longest response of any phase. */
  #columns: number
  #format: TurnFormat | undefined

  /** `format`: how calls of tools are written, where the run has any. */
  constructor(task: Task, columns: number, format?: TurnFormat) {
    this.#task = task
    this.#columns = columns
    this.#format = format
  }

  /** Responses [B, R] as a batch and as text, with the task's scores. What is scored of a conversation its format says. */
  judge(
    samples: readonly Sample[],
    { response_ids, turns }: { readonly response_ids: Uint32Array; readonly turns?: BatchTurns },
    R: number,
  ): Judged {
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
    const answerOf = (text: string) => (format ? format.answer(text) : text)
    const scores = samples.map(({ prompt }, b) =>
      batch.is_ended[b] ? task.score(prompt, answerOf(texts[b])) : 0,
    )
    return { batch, texts, scores, ...(spoken && { spoken }) }
  }

  /** Problems with the given texts as their responses. What a tool would write in them has mask 0. */
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
    return makeBatch(promptBatch(samples, task), ids, size, tokenizer.eos_token_ids, R, turns)
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
