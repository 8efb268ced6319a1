// Makes tensors for one golden case, freed when it is over.

import type { Tensor } from '../../src/kernels/device/base/tensor.ts'
import type { Gpu } from '../../src/kernels/device/gpu.ts'

type Numbers = ArrayLike<number>

export interface Scratch {
  readonly gpu: Gpu
  /** Uploads numbers, as float32. */
  f32(label: string, shape: readonly number[], data: Numbers): Tensor<'f32'>
  /** A zeroed one. */
  zeros(label: string, shape: readonly number[]): Tensor<'f32'>
  /** What a kernel is to overwrite: filled with a number that would show. */
  output(label: string, shape: readonly number[]): Tensor<'f32'>
  u32(label: string, shape: readonly number[], data: Numbers): Tensor<'u32'>
}

/** Runs `use` and frees what it allocated, also when it throws. */
export async function withScratch<T>(gpu: Gpu, use: (scratch: Scratch) => Promise<T>): Promise<T> {
  const tensors: Tensor[] = []
  const keep = <D extends Tensor>(tensor: D): D => {
    tensors.push(tensor)
    return tensor
  }
  const count = (shape: readonly number[]) => shape.reduce((n, d) => n * d, 1)
  const f32 = (label: string, shape: readonly number[], data: Numbers) =>
    keep(gpu.tensor(label, 'f32', shape, { data: Float32Array.from(data) }))
  try {
    return await use({
      gpu,
      f32,
      zeros: (label, shape) => keep(gpu.tensor(label, 'f32', shape)),
      output: (label, shape) => f32(label, shape, new Float32Array(count(shape)).fill(7e7)),
      u32: (label, shape, data) =>
        keep(gpu.tensor(label, 'u32', shape, { data: Uint32Array.from(data) })),
    })
  } finally {
    gpu.free(...tensors)
  }
}
