// Puts a lens on a device.
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { type Lens, type LensShape, translatorSize } from '../layout/translators.ts'
import { type LensTensors, translatorViews } from '../params/lens_tensors.ts'

/** Room for the translators of so many layers. */
export function createLensTensors(
  alloc: Allocator,
  { hidden_size }: Pick<LensShape, 'hidden_size'>,
  layers: number,
  label: string,
) {
  const size = layers * translatorSize(hidden_size)
  const flat = alloc.tensor(label, 'f32', [size], { kind: 'weights' })
  return { flat, layers: translatorViews(alloc, flat, hidden_size, layers) }
}

/** A lens on a device. */
export function uploadedLens(gpu: Gpu, shape: LensShape, { readout, values }: Lens): LensTensors {
  const { flat, layers } = createLensTensors(gpu, shape, shape.num_hidden_layers, `lens.${readout}`)
  gpu.write(flat, values)
  return layers
}
