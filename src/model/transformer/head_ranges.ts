// Splits a vocabulary head that no binding can hold into several ranges of rows. What its passes
// need beside a head of one range.
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { place_logits } from '../../kernels/vocab_head/place_logits.ts'
import { RUNNING_SUMS } from '../../kernels/vocab_head/vocab_head.ts'
import type { ModelShape } from '../layout/config.ts'
import type { RowRange } from '../params/param_buffers.ts'

/** Whether a head may lie in several ranges: those of float32 are the smallest. */
const isRanged = (alloc: Allocator, { vocab_size, hidden_size }: ModelShape): boolean =>
  4 * vocab_size * hidden_size > alloc.segmentBytes

/** Most rows that a range of `bytesEach` bytes an element has. */
const rangeRows = (alloc: Allocator, shape: ModelShape, bytesEach: 2 | 4): number =>
  Math.min(
    shape.vocab_size,
    Math.max(1, Math.ceil(alloc.segmentBytes / (bytesEach * shape.hidden_size))),
  )

/** The sums of the softmax of every token between two ranges, [rows, R · 5]; undefined where the
 * head has one. */
export const createRunning = (
  alloc: Allocator,
  shape: ModelShape,
  rows: number,
  R = 1,
): Tensor | undefined =>
  isRanged(alloc, shape)
    ? alloc.tensor('running', 'f32', [rows, R * RUNNING_SUMS], { kind: 'activations' })
    : undefined

/** Elements of the largest range's gradient: a range that is trained is float32. */
export const gradientElements = (alloc: Allocator, shape: ModelShape): number =>
  shape.hidden_size * (isRanged(alloc, shape) ? rangeRows(alloc, shape, 4) : shape.vocab_size)

/** Logits of the largest range, [rows, its rows]; undefined where the head has one. */
export const createLogitsPart = (
  alloc: Allocator,
  shape: ModelShape,
  rows: number,
): Tensor | undefined =>
  isRanged(alloc, shape)
    ? alloc.tensor('logits_part', 'f32', [rows, rangeRows(alloc, shape, 2)], {
        kind: 'activations',
      })
    : undefined

/** logits [rows, V] by `product`, the product of some states with the rows of one range. `part`
 * from createLogitsPart. */
export function logitsInRanges<L extends string>(
  run: Recorder<L>['run'],
  { vocab_size }: ModelShape,
  { head, rows }: { readonly head: readonly RowRange[]; readonly rows: Value<L> },
  { logits, part }: { readonly logits: Tensor; readonly part: Tensor | undefined },
  product: (weight: Tensor, out: Tensor) => void,
): void {
  if (head.length === 1) return product(head[0].tensor, logits)
  const room = roomFor(part)
  for (const { first: first_id, tensor } of head) {
    product(tensor, room)
    run(
      place_logits,
      { rows, cols: tensor.shape[0], vocab_size, first_id },
      { part: room, out: logits },
    )
  }
}

/** What a head in several ranges needs. Throws where it was not made. */
export function roomFor(tensor: Tensor | undefined): Tensor {
  if (!tensor) throw new Error('vocabulary head: no room was made for several ranges')
  return tensor
}
