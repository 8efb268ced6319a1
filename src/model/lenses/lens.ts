// A lens as plain data: the translators of all layers below the last one, and their checks.
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { ModelShape } from '../layout/config.ts'
import type { TranslatedReadout } from '../layout/readout.ts'
import { type LensTensors, translatorSize, translatorViews } from '../params/lens_tensors.ts'

/** Translators as they lie on a device (params/lens_tensors.ts), layer 0 first. */
export interface Lens {
  readonly readout: TranslatedReadout
  readonly hidden_size: number
  /** [L · translatorSize] */
  readonly values: Float32Array
}

type LensShape = Pick<ModelShape, 'hidden_size' | 'num_hidden_layers'>

/** Elements of a whole lens. */
export const lensSize = ({ hidden_size, num_hidden_layers }: LensShape): number =>
  num_hidden_layers * translatorSize(hidden_size)

/** One layer's matrix less the identity, [C, C], and bias, [C]: views of the lens. */
export function translatorValues(
  { hidden_size: C, values }: Pick<Lens, 'hidden_size' | 'values'>,
  layer: number,
): { readonly residual: Float32Array; readonly bias: Float32Array } {
  const size = translatorSize(C)
  const own = values.subarray(layer * size, (layer + 1) * size)
  const at = size - Math.ceil(C / 64) * 64
  return { residual: own.subarray(0, C * C), bias: own.subarray(at, at + C) }
}

/** The lens of average Jacobians [L, C, C], out by in. */
export function jacobianLens(hidden_size: number, jacobians: readonly Float32Array[]): Lens {
  const C = hidden_size
  const values = new Float32Array(jacobians.length * translatorSize(C))
  const lens: Lens = { readout: 'jacobian', hidden_size, values }
  jacobians.forEach((matrix, l) => {
    const { residual } = translatorValues(lens, l)
    residual.set(matrix)
    for (let i = 0; i < C; i++) residual[i * C + i] -= 1
  })
  return lens
}

/** Room for a lens. */
export function createLensTensors(alloc: Allocator, shape: LensShape, label: string) {
  const flat = alloc.tensor(label, 'f32', [lensSize(shape)], { kind: 'weights' })
  const { hidden_size, num_hidden_layers } = shape
  return { flat, layers: translatorViews(alloc, flat, hidden_size, num_hidden_layers) }
}

/** A lens on a device. */
export function uploadedLens(gpu: Gpu, shape: LensShape, { readout, values }: Lens): LensTensors {
  const { flat, layers } = createLensTensors(gpu, shape, `lens.${readout}`)
  gpu.write(flat, values)
  return layers
}
