// Reads the texts that a lens looks through, and what it says of them.
import { type LensNumbers, type LensTensors, unpackLens } from '../../model/internals/lens.ts'
import type { Task } from '../../tasks/task/task.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import type { Lens, LensReadout, LensSample } from './observation.ts'

/** A text as the model reads it. */
export interface LensText {
  readonly sample: LensSample
  readonly ids: readonly number[]
  /** How many of them are the prompt's. */
  readonly prompt_length: number
  readonly is_held_out: boolean
}

/** The first held-out prompts of a task with their right answers; as many as there are. */
export function heldOutTexts(task: Task, seed: number, count: number) {
  return Array.from({ length: Math.min(count, task.test_size) }, (_, index) => {
    const { prompt, ground_truth } = task.sample(seed, index, 'test')
    return { sample: { prompt, response: ground_truth, is_ended: true }, is_held_out: true }
  })
}

/** Ids of prompt, response and end token. Throws RangeError for characters without a token, and for
 * none or more than `most`. */
export function encodeSample(
  sample: LensSample,
  tokenizer: Tokenizer,
  most: number,
): Omit<LensText, 'is_held_out'> {
  const { prompt, response, is_ended } = sample
  const promptIds = tokenizer.encode(prompt)
  const end = is_ended ? [tokenizer.eos_token_id] : []
  const ids = [...promptIds, ...tokenizer.encode(response), ...end]
  if (ids.length === 0 || ids.length > most)
    throw new RangeError(
      `expected a text of 1 to ${most} tokens, got ${ids.length} in ${JSON.stringify(prompt + response)}`,
    )
  return { sample, ids, prompt_length: promptIds.length }
}

/** What was read back of every text, with tokens as text. */
export function readLens(
  tensors: LensTensors,
  outputs: readonly [Float32Array, Uint32Array],
  texts: readonly LensText[],
  tokens: readonly string[],
): Lens[] {
  // A model may have more ids than the tokenizer has texts.
  const textOf = (id: number) => tokens[id] ?? `<${id}>`
  const readout = ({ entropy, ids, probs, next_prob }: LensNumbers): LensReadout => ({
    entropy,
    next_prob,
    top: Array.from(ids, textOf),
    top_probs: probs,
  })
  return texts.map(({ sample, ids, prompt_length, is_held_out }, i) => {
    const { raw, normed } = unpackLens(tensors, outputs, i, ids.length)
    return {
      ...sample,
      is_held_out,
      prompt_length,
      tokens: ids.map(textOf),
      raw: readout(raw),
      normed: readout(normed),
    }
  })
}
