// Merges an adapter into the weights that it belongs to: W + scale · B · A.

import type { AdapterLayout } from './adapter_layout.ts'
import type { Param } from './flat_params.ts'
import { factorNames } from './lora.ts'
import type { ParamLayout } from './params.ts'

/** What an adapter adds to one projection, [out, in]: scale · B · A. */
export interface ModuleFactors {
  readonly param: Param
  readonly rank: number
  readonly scale: number
  /** [rank, in] */
  readonly A: Float32Array
  /** [out, rank] */
  readonly B: Float32Array
}

/** Adds scale · B · A to the projection in a flat array of weights, summed in float64 and rounded
 * once. */
export function mergeFactors(weights: Float32Array, factors: ModuleFactors): void {
  const { offset, size } = factors.param
  mergePiece(weights.subarray(offset, offset + size), 0, factors)
}

/** The same for elements first … first + piece.length − 1 of the projection, with the same bits
 * wherever it is cut. */
export function mergePiece(
  piece: Float32Array,
  first: number,
  { A, B, param, rank, scale }: ModuleFactors,
): void {
  const columns = param.shape[1]
  const row = new Float64Array(columns)
  const end = first + piece.length
  for (let o = Math.floor(first / columns); o * columns < end; o++) {
    row.fill(0)
    for (let k = 0; k < rank; k++) {
      const factor = scale * B[o * rank + k]
      for (let i = 0; i < columns; i++) row[i] += factor * A[k * columns + i]
    }
    const from = Math.max(first, o * columns)
    const to = Math.min(end, (o + 1) * columns)
    for (let i = from; i < to; i++) piece[i - first] += row[i - o * columns]
  }
}

/** Merges the factors of a whole adapter into the flat weights of its model. */
export function mergeAdapter(
  weights: Float32Array,
  { params }: ParamLayout,
  { rank, scale, params: factors }: AdapterLayout,
  flat: Float32Array,
): void {
  const placed = new Map(factors.map((factor) => [factor.name, factor]))
  for (const param of params) {
    const names = factorNames(param.name.replace(/\.weight$/, ''))
    const [A, B] = [placed.get(names.A), placed.get(names.B)]
    if (!A || !B) continue
    const of = ({ offset, size }: Param) => flat.subarray(offset, offset + size)
    mergeFactors(weights, { A: of(A), B: of(B), param, rank, scale })
  }
}
