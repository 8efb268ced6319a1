// Gives held-out problems with their right answers, as rows that a model reads.
import type { Rows } from '../../../../model/transformer/rows.ts'
import type { TrainerConfig } from '../../../config/trainer_config.ts'
import { encodeSample, heldOutTexts, type LensText } from '../../../look/lens_texts.ts'

/** Rows that are read at once. */
const ROWS = 16

export interface Sizes {
  readonly rows: number
  readonly width: number
}

/** The right answers as texts; none where one of them is no text of the vocabulary. */
export function answersOf({ task, seed }: TrainerConfig, count: number): readonly LensText[] {
  try {
    return heldOutTexts(task, seed, count).map(({ sample, is_held_out }) => ({
      ...encodeSample(sample, task.tokenizer, Number.POSITIVE_INFINITY),
      is_held_out,
    }))
  } catch (error) {
    if (error instanceof RangeError) return []
    throw error
  }
}

/** Their prompts alone. Throws RangeError for one that is no text of the vocabulary. */
export const promptsOf = ({ task, seed }: TrainerConfig, count: number): LensText[] =>
  heldOutTexts(task, seed, count).map(({ sample: { prompt }, is_held_out }) => ({
    ...encodeSample(
      { prompt, response: '', is_ended: false },
      task.tokenizer,
      Number.POSITIVE_INFINITY,
    ),
    is_held_out,
  }))

export const sizesOf = (texts: readonly LensText[]): Sizes => ({
  rows: Math.min(ROWS, texts.length),
  width: Math.max(1, ...texts.map(({ ids }) => ids.length)),
})

/** Texts in rows, with padding at the left. */
export function rowsOf(texts: readonly LensText[], { rows, width }: Sizes, pad: number): Rows {
  const input_ids = new Uint32Array(rows * width).fill(pad)
  const attention_mask = new Uint32Array(rows * width)
  const position_ids = new Uint32Array(rows * width)
  texts.forEach(({ ids }, row) => {
    const first = (row + 1) * width - ids.length
    ids.forEach((id, i) => {
      input_ids[first + i] = id
      attention_mask[first + i] = 1
      position_ids[first + i] = i
    })
  })
  const response = { response_ids: new Uint32Array(), response_mask: new Float32Array() }
  return { input_ids, attention_mask, position_ids, ...response }
}
