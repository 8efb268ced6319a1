// Holds translators of a lens as plain numbers: an affine map for each layer below the last,
// between its states and the final norm.
import type { ModelShape } from './config.ts'
import { CHUNK } from './flat_params.ts'
import type { TranslatedReadout } from './readout.ts'

/** Rounded up to what a kernel's view may start at. */
export const wholeChunks = (count: number) => Math.ceil(count / CHUNK) * CHUNK

/** Elements of one translator in a flat array. */
export const translatorSize = (hidden_size: number): number =>
  wholeChunks(hidden_size ** 2) + wholeChunks(hidden_size)

/** Translators one behind the other, as they lie on a device, layer 0 first. */
export interface Lens {
  readonly readout: TranslatedReadout
  readonly hidden_size: number
  /** [L · translatorSize] */
  readonly values: Float32Array
}

export type LensShape = Pick<ModelShape, 'hidden_size' | 'num_hidden_layers'>

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
  const at = wholeChunks(C ** 2)
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
