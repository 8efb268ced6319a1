// Names what broke a step whose update was left out: the parameter and the token that were not
// finite.
import { firstNonfinite, lastNonfinite } from '../../kernels/nonfinite/nonfinite.ts'
import type { FlatLayout } from '../../model/layout/flat_params.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import type { RowOrder } from '../math/shuffle.ts'

/** Evidence of an optimizer step that was not taken because its gradient was not finite. */
export interface NonFinite {
  readonly model: 'actor' | 'critic' | 'reward_model'
  /** Optimizer step within the training step, from 0. */
  readonly update: number
  /** Hugging Face name of the last parameter, in the order of the forward pass, whose gradient
   * holds Inf or NaN: the nearest to where the backward pass broke. Undefined where every gradient
   * is finite and the sum of their squares alone is not. */
  readonly parameter?: string
  /** The first token of the step's batch whose log-prob is Inf or NaN; undefined where all are
   * finite. Of the actor alone. */
  readonly token?: {
    /** Row of the batch, and token of its response, from 0. */
    readonly row: number
    readonly position: number
    readonly prompt: string
    readonly response: string
  }
}

/** The parameter that element `index` of the flat buffers belongs to. */
const parameterAt = ({ params }: FlatLayout, index: number): string | undefined =>
  params.find(({ offset, size }) => index >= offset && index < offset + size)?.name

/** The first of `updates` optimizer steps that was left out; undefined where all were taken.
 * `finite` says which were, `found` [updates] is what find_nonfinite_gradient left. */
export function brokenUpdate(
  model: NonFinite['model'],
  layout: FlatLayout,
  finite: readonly boolean[],
  found: ArrayLike<number>,
): NonFinite | undefined {
  const update = finite.indexOf(false)
  if (update < 0) return undefined
  const index = lastNonfinite(found[update])
  const parameter = index === undefined ? undefined : parameterAt(layout, index)
  return { model, update, ...(parameter !== undefined && { parameter }) }
}

/** Where the first token that was not finite lies in [B, R] of a batch, from what
 * find_nonfinite_token left of each epoch; undefined where all were finite. `order` is that of each
 * epoch's rows, where they were shuffled. */
export function brokenPlace(
  slots: ArrayLike<number>,
  R: number,
  order: RowOrder | undefined,
): number | undefined {
  const epoch = Array.from(slots).findIndex((slot) => firstNonfinite(slot) !== undefined)
  const place = epoch < 0 ? undefined : firstNonfinite(slots[epoch])
  if (place === undefined || !order) return place
  return order(epoch)[Math.floor(place / R)] * R + (place % R)
}

/** The token of `batch` at `index` of its [B, R] arrays, with its texts. */
export function tokenAt(
  batch: RolloutBatch,
  index: number,
  tokenizer: Tokenizer,
): NonNullable<NonFinite['token']> {
  const { prompt_length: P, response_length: R, input_ids, attention_mask, response_ids } = batch
  const row = Math.floor(index / R)
  const first = row * (P + R)
  const prompt: number[] = []
  for (let i = first; i < first + P; i++) if (attention_mask[i]) prompt.push(input_ids[i])
  return {
    row,
    position: index % R,
    prompt: tokenizer.decode(prompt),
    response: tokenizer.decode(response_ids.subarray(row * R, (row + 1) * R)),
  }
}
