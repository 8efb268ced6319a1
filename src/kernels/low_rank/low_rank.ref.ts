// Computes the three kernels of low_rank.ts in plain loops and float64.
import type { ModuleColumns } from './low_rank.ts'

export interface LowRankShape {
  readonly tokens: number
  readonly width: number
  readonly rank: number
  readonly scale: number
  readonly columns: readonly ModuleColumns[]
}

/** Calls `visit` with the indices of y, low and b for every term of the sum. */
function eachTerm(
  { tokens, width, rank, columns }: LowRankShape,
  visit: (y: number, low: number, b: number) => void,
): void {
  for (let t = 0; t < tokens; t++) {
    let row = 0
    columns.forEach(({ first, rows }, slot) => {
      for (let c = 0; c < rows; c++, row++)
        for (let k = 0; k < rank; k++)
          visit(t * width + first + c, (t * columns.length + slot) * rank + k, row * rank + k)
    })
  }
}

/** y + scale · low · Bᵀ in the modules' columns. */
export function lowRankAddRef(
  y: ArrayLike<number>,
  low: ArrayLike<number>,
  b: ArrayLike<number>,
  shape: LowRankShape,
): Float64Array {
  const out = Float64Array.from(y)
  eachTerm(shape, (i, j, k) => {
    out[i] += shape.scale * low[j] * b[k]
  })
  return out
}

/** d_low and what is added to d_b. */
export function lowRankGradRef(
  d_y: ArrayLike<number>,
  low: ArrayLike<number>,
  b: ArrayLike<number>,
  shape: LowRankShape,
): { d_low: Float64Array; d_b: Float64Array } {
  const d_low = new Float64Array(low.length)
  const d_b = new Float64Array(b.length)
  eachTerm(shape, (i, j, k) => {
    d_low[j] += shape.scale * d_y[i] * b[k]
    d_b[k] += shape.scale * d_y[i] * low[j]
  })
  return { d_low, d_b }
}
