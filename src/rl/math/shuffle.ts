// Draws orders from a seed: functions of their key alone, so that a run that continues repeats
// them.
import { philox4x32, uniform24 } from '../../kernels/sampling/philox.ts'

/** Keeps the order of a batch's rows apart from other draws under the same generator and seed. */
const ROWS_STREAM = 0x726f7773
/** What kind of responses a step trains on. */
const CHOICE_STREAM = 0x63686f69

/** Fisher and Yates' shuffle of 0 … count - 1, keyed by a seed, a stream and two counters. */
export function shuffledOrder(
  count: number,
  [seed, stream]: readonly [number, number],
  [a, b]: readonly [number, number],
): number[] {
  const order = Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const [bits] = philox4x32([i, a, b, 2], [seed, stream])
    const j = Math.floor(uniform24(bits) * (i + 1))
    ;[order[i], order[j]] = [order[j], order[i]]
  }
  return order
}

/** A number in [0, 1) for each step of a run. */
export const uniformOf = (seed: number, step: number): number =>
  uniform24(philox4x32([step, 0, 0, 2], [seed, CHOICE_STREAM])[0])

/** The row of the batch at each place in an epoch, from 0. */
export type RowOrder = (epoch: number) => readonly number[]

/** The order of a batch's rows in every epoch of a step: what verl's DataLoader draws in its engine
 * worker with actor.shuffle. verl seeds it alike in every step; here every step has other orders.
 * Actor and critic share them, as they share verl's seed. */
export const rowOrder =
  (seed: number, step: number, rows: number): RowOrder =>
  (epoch) =>
    shuffledOrder(rows, [seed, ROWS_STREAM], [step, epoch])

/** Rows of [B, columns] in the given order, put back in the order of the batch. */
export function unshuffled(
  values: Float32Array,
  order: readonly number[],
  columns: number,
): Float32Array {
  const back = new Float32Array(values.length)
  order.forEach((row, place) => {
    back.set(values.subarray(place * columns, (place + 1) * columns), row * columns)
  })
  return back
}
