// Copies parameters between the CPU and the buffers that hold them, and from buffers to buffers.

import { ShapeError } from '../../kernels/device/base/errors.ts'
import { sizeOf, type Tensor } from '../../kernels/device/base/tensor.ts'
import { decodeBfloat16, encodeBfloat16 } from '../../kernels/device/bfloat16.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { SharedRun } from '../layout/params.ts'
import { type ParamBuffers, type Stretch, within } from './param_buffers.ts'

/** Uploads values from element `at` of the layout on; what is not stored is left out. Uint16Array =
 * the bits of bfloat16 values. Values go to the nearest one of how they are stored. */
export function writeParams(
  gpu: Pick<Gpu, 'write'>,
  buffers: ParamBuffers,
  values: Float32Array | Uint16Array,
  at = 0,
): void {
  for (const { stretch, from, to } of within(buffers, at, at + values.length)) {
    const part = values.subarray(from - at, to - at)
    gpu.write(stretch.tensor, asStored(part, stretch.tensor), from - stretch.start)
  }
}

function asStored(values: Float32Array | Uint16Array, { dtype }: Tensor) {
  const hasBits = values instanceof Uint16Array
  if (dtype === 'bfloat16') return hasBits ? values : encodeBfloat16(values)
  return hasBits ? decodeBfloat16(values) : values
}

/** One f32 tensor as if it were all of a layout, to be read with others. */
export const wholeTensor = (tensor: Tensor): ParamBuffers => ({
  label: tensor.label,
  size: sizeOf(tensor.shape),
  stretches: [{ start: 0, tensor: tensor as Tensor<'f32'> }],
})

/** Reads values back in the order of their layouts, zeros where nothing is stored. In one readback
 * where that fits one buffer; every copy is submitted before this returns. */
export async function readParams(
  gpu: Pick<Gpu, 'read' | 'facts'>,
  ...all: readonly ParamBuffers[]
): Promise<Float32Array<ArrayBuffer>[]> {
  const tensors = all.flatMap(({ stretches }) => stretches.map(({ tensor }) => tensor))
  const groups = groupsOf(tensors, gpu.facts.max_buffer_bytes)
  const arrays = (await Promise.all(groups.map((group) => gpu.read(...group)))).flat()
  let next = 0
  return all.map(({ size, stretches }) => {
    const own = arrays.slice(next, next + stretches.length)
    next += stretches.length
    return joined(size, stretches, own)
  })
}

/** Neighbours that fit one staging buffer together. */
function groupsOf(tensors: readonly Tensor<Stretch['tensor']['dtype']>[], mostBytes: number) {
  const groups: (typeof tensors)[number][][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const tensor of tensors) {
    const own = sizeOf(tensor.shape) * 4
    if (bytes + own > mostBytes) {
      groups.push([])
      bytes = 0
    }
    groups.at(-1)?.push(tensor)
    bytes += own
  }
  return groups
}

function joined(
  size: number,
  stretches: readonly Stretch[],
  arrays: readonly (Float32Array | Uint16Array)[],
): Float32Array<ArrayBuffer> {
  const [first] = arrays
  if (arrays.length === 1 && first instanceof Float32Array && first.length === size)
    return first as Float32Array<ArrayBuffer>
  const values = new Float32Array(size)
  arrays.forEach((array, i) => {
    const decoded = array instanceof Uint16Array ? decodeBfloat16(array) : array
    values.set(decoded, stretches[i].start)
  })
  return values
}

/** Encodes copying what both have of these runs, by default of everything. Both must store them as
 * the same dtype. */
export function copyParams(
  gpu: Pick<Gpu, 'copy'>,
  from: ParamBuffers,
  to: ParamBuffers,
  runs: readonly SharedRun[] = [{ fromOffset: 0, toOffset: 0, count: to.size }],
): void {
  for (const { fromOffset, toOffset, count } of runs)
    for (const target of within(to, toOffset, toOffset + count)) {
      const shift = fromOffset - toOffset
      for (const source of within(from, target.from + shift, target.to + shift)) {
        if (source.stretch.tensor.dtype !== target.stretch.tensor.dtype)
          throw new ShapeError(`${to.label}: ${from.label} is stored as another dtype`)
        gpu.copy(source.stretch.tensor, target.stretch.tensor, {
          fromOffset: source.from - source.stretch.start,
          toOffset: source.from - shift - target.stretch.start,
          count: source.to - source.from,
        })
      }
    }
}
