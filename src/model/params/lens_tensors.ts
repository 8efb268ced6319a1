// Declares the translators of a lens on a device: an affine map for each layer below the last,
// between its states and the final norm.
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { TranslatedReadout } from '../layout/readout.ts'
import { translatorSize, wholeChunks } from '../layout/translators.ts'

/** state + residual · state + bias. With zeros a state stays what it is, to the bit. */
export interface TranslatorTensors {
  /** The matrix less the identity, [C, C], out by in. */
  readonly residual: Tensor
  /** [C]; zeros of a Jacobian lens. */
  readonly bias: Tensor
}

/** Of each layer below the last, by number of blocks; undefined for one that is not read so. */
export type LensTensors = readonly (TranslatorTensors | undefined)[]

/** The lenses that a model can be read through. */
export type Lenses = Readonly<Partial<Record<TranslatedReadout, LensTensors>>>

/** Translators one behind the other in `flat`, [count · translatorSize]. */
export function translatorViews(
  alloc: Allocator,
  flat: Tensor,
  hiddenSize: number,
  count: number,
): readonly TranslatorTensors[] {
  const C = hiddenSize
  return Array.from({ length: count }, (_, i) => {
    const at = i * translatorSize(C)
    return {
      residual: alloc.view(flat, `${flat.label}.${i}.residual`, at, [C, C]),
      bias: alloc.view(flat, `${flat.label}.${i}.bias`, at + wholeChunks(C ** 2), [C]),
    }
  })
}
