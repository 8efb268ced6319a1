// Keeps one value for each parameter of a layout, or of some of its segments: weights, gradients, a
// moment. They lie in as many buffers as WebGPU can bind (Allocator.segmentBytes): neighbouring
// segments share a buffer while there is room, a segment without room in one is cut between its
// tensors, and an embedding or untied head between its rows; a larger matrix has a buffer of its
// own. A small model has one buffer, in the order of its layout.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import {
  type Allocator,
  BINDING_ALIGNMENT,
  elementBytes,
  type MemoryKind,
  sizeOf,
  type Tensor,
} from '../../kernels/device/base/tensor.ts'
import { type FlatLayout, type Slice, segmentStart } from '../layout/flat_params.ts'

/** How parameters are stored. bfloat16 is for matrices that are not trained; norms and biases are
 * f32 in any case. */
export type Stored = 'f32' | 'bfloat16'

/** Elements of a layout, from `start` on, that lie one behind the other. */
export interface Stretch {
  readonly start: number
  /** [elements] */
  readonly tensor: Tensor<Stored>
}

/** The values of a layout's elements: stretches in order, which do not overlap. What no stretch
 * holds is not stored. */
export interface ParamBuffers {
  readonly label: string
  /** Elements of the layout. */
  readonly size: number
  readonly stretches: readonly Stretch[]
}

/** Rows `first`, `first` + 1 … of a matrix [V, C], as a tensor of their own. */
export interface RowRange {
  readonly first: number
  /** [rows, C] */
  readonly tensor: Tensor
}

/** Elements that are bound together. */
interface Block {
  readonly start: number
  readonly count: number
  readonly dtype: Stored
  /** Rows that stay apart from those before them. */
  readonly isRange?: boolean
}

interface BufferPlan {
  readonly dtype: Stored
  readonly stretches: { start: number; count: number; offset: number }[]
  count: number
}

/** Allocates values for the segments that are `stored`: by default all, as f32. */
export function createParamBuffers(
  alloc: Allocator,
  layout: FlatLayout,
  label: string,
  kind: MemoryKind,
  stored: (segment: number) => Stored | undefined = () => 'f32',
): ParamBuffers {
  const plans = packed(blocksOf(layout, stored, alloc.segmentBytes), alloc.segmentBytes)
  const stretches = plans.flatMap(({ dtype, count, stretches }, i) => {
    const name = plans.length > 1 ? `${label}.${i}` : label
    const buffer = alloc.tensor(name, dtype, [count], { kind })
    return stretches.map(({ start, count: length, offset }) => ({
      start,
      tensor: length === count ? buffer : alloc.view(buffer, name, offset, [length]),
    }))
  })
  stretches.sort((a, b) => a.start - b.start)
  return { label, size: layout.size, stretches }
}

/** What must be bound together, in order. */
function blocksOf(
  layout: FlatLayout,
  stored: (segment: number) => Stored | undefined,
  mostBytes: number,
): Block[] {
  return layout.segment_ends.flatMap((end, segment): Block[] => {
    const start = segmentStart(layout, segment)
    const dtype = stored(segment)
    if (dtype === undefined || start === end) return []
    const fits = (end - start) * 4 <= mostBytes
    if (dtype === 'f32' && fits) return [{ start, count: end - start, dtype }]
    const slices = layout.placed.filter(({ offset }) => offset >= start && offset < end)
    return slices.flatMap((slice, i) => {
      const isVector = slice.shape.length === 1
      const kept = isVector ? 'f32' : dtype
      const count = (slices[i + 1]?.offset ?? end) - slice.offset
      const hasRows = segment < layout.first_block && !isVector
      if (hasRows) return rowBlocks(slice, count, kept, mostBytes)
      return [{ start: slice.offset, count, dtype: kept }]
    })
  })
}

/** A matrix in ranges of rows, as equal as they can be; `count` = its elements with the padding
 * behind it. They are those of an f32 matrix however it is stored: a vocabulary head adds up range
 * by range, and its bits should not depend on that. */
function rowBlocks(
  { offset, shape: [rows, columns] }: Slice,
  count: number,
  dtype: Stored,
  mostBytes: number,
): Block[] {
  const aligned = BINDING_ALIGNMENT / elementBytes('bfloat16')
  const step = aligned / gcd(aligned, columns)
  const mostRows = Math.max(step, Math.floor(mostBytes / (4 * columns) / step) * step)
  const ranges = Math.ceil(rows / mostRows)
  const rangeRows = Math.ceil(rows / ranges / step) * step
  const size = rangeRows * columns
  return Array.from({ length: Math.ceil(rows / rangeRows) }, (_, i) => ({
    start: offset + i * size,
    count: Math.min(size, count - i * size),
    dtype,
    isRange: ranges > 1,
  }))
}

/** Greatest common divisor. */
export const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))

/** Blocks in as few buffers as one pass over them makes; neighbours in the layout that lie side by
 * side become one stretch. */
function packed(blocks: readonly Block[], mostBytes: number): BufferPlan[] {
  const plans: BufferPlan[] = []
  const open: Partial<Record<Stored, BufferPlan>> = {}
  for (const { start, count, dtype, isRange } of blocks) {
    const aligned = BINDING_ALIGNMENT / elementBytes(dtype)
    let plan = open[dtype]
    let offset = plan ? Math.ceil(plan.count / aligned) * aligned : 0
    if (!plan || (offset + count) * elementBytes(dtype) > mostBytes) {
      plan = { dtype, stretches: [], count: 0 }
      offset = 0
      open[dtype] = plan
      plans.push(plan)
    }
    const last = plan.stretches.at(-1)
    const continues =
      !isRange && last && last.start + last.count === start && last.offset + last.count === offset
    if (continues) last.count += count
    else plan.stretches.push({ start, count, offset })
    plan.count = offset + count
  }
  return plans
}

/** The parts of stretches that hold elements start … end - 1. */
export function within(
  { stretches }: ParamBuffers,
  start: number,
  end: number,
): { readonly stretch: Stretch; readonly from: number; readonly to: number }[] {
  return stretches.flatMap((stretch) => {
    const from = Math.max(start, stretch.start)
    const to = Math.min(end, stretch.start + sizeOf(stretch.tensor.shape))
    return from < to ? [{ stretch, from, to }] : []
  })
}

/** What `over` stores, and what `under` stores of the rest. Both lie in the order of the same
 * layout. */
export function overlaid(alloc: Allocator, over: ParamBuffers, under: ParamBuffers): ParamBuffers {
  const covered = over.stretches.map(({ start, tensor }) => [start, start + sizeOf(tensor.shape)])
  let end = 0
  const gaps = [...covered, [under.size, under.size]].flatMap(([start, next]) => {
    const gap = within(under, end, start)
    end = next
    return gap
  })
  const kept = gaps.map(({ stretch: { start, tensor }, from, to }) => ({
    start: from,
    tensor: alloc.view(tensor, tensor.label, from - start, [to - from]),
  }))
  const stretches = [...over.stretches, ...kept].sort((a, b) => a.start - b.start)
  return { ...over, stretches }
}

/** A tensor of a layout, or undefined where it is not stored. Throws ShapeError where it is too
 * large for one buffer. */
export function viewParam(
  alloc: Allocator,
  buffers: ParamBuffers,
  name: string,
  { offset, shape }: Slice,
): Tensor | undefined {
  const label = `${buffers.label}.${name}`
  const [part, next] = within(buffers, offset, offset + sizeOf(shape))
  if (!part) return undefined
  if (next || part.from !== offset || part.to !== offset + sizeOf(shape))
    throw new ShapeError(`${label} [${shape}]: expected a matrix that fits one buffer`)
  return alloc.view(part.stretch.tensor, label, offset - part.stretch.start, shape)
}

/** A matrix of a layout in its ranges of rows, or undefined where it is not stored. */
export function viewRows(
  alloc: Allocator,
  buffers: ParamBuffers,
  name: string,
  { offset, shape: [rows, columns] }: Slice,
): readonly RowRange[] | undefined {
  const parts = within(buffers, offset, offset + rows * columns)
  if (parts.length === 0) return undefined
  const label = `${buffers.label}.${name}`
  return parts.map(({ stretch, from, to }) => ({
    first: (from - offset) / columns,
    tensor: alloc.view(stretch.tensor, label, from - stretch.start, [
      (to - from) / columns,
      columns,
    ]),
  }))
}
