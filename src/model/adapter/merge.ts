// An adapter merged into the weights that it belongs to: W + scale · B · A.
import type { Param } from '../params/flat_params.ts'
import type { ParamLayout } from '../params/params.ts'
import type { AdapterLayout } from './adapter_layout.ts'
import { factorNames } from './lora.ts'

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

/** Adds scale · B · A to the projection in a flat array of weights, summed in float64 and rounded once. */
export function mergeFactors(
  weights: Float32Array,
  { A, B, param, rank, scale }: ModuleFactors,
): void {
  const [out, columns] = param.shape
  const row = new Float64Array(columns)
  for (let o = 0; o < out; o++) {
    row.fill(0)
    for (let k = 0; k < rank; k++) {
      const factor = scale * B[o * rank + k]
      for (let i = 0; i < columns; i++) row[i] += factor * A[k * columns + i]
    }
    const at = param.offset + o * columns
    for (let i = 0; i < columns; i++) weights[at + i] += row[i]
  }
}

/** Merges the factors of a whole adapter into the flat weights of its model. */
export function mergeAdapter(
  weights: Float32Array,
  { params }: ParamLayout,
  { lora, scale, params: factors }: AdapterLayout,
  flat: Float32Array,
): void {
  const placed = new Map(factors.map((factor) => [factor.name, factor]))
  for (const param of params) {
    const names = factorNames(param.name.replace(/\.weight$/, ''))
    const [A, B] = [placed.get(names.A), placed.get(names.B)]
    if (!A || !B) continue
    const of = ({ offset, size }: Param) => flat.subarray(offset, offset + size)
    mergeFactors(weights, { A: of(A), B: of(B), param, rank: lora.r, scale })
  }
}
