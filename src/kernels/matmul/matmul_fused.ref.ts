// Computes the fused matrix products in float64.
import { reduceRowsRef } from '../reduce/reduce.ref.ts'
import { swigluBackwardRef, swigluForwardRef } from '../swiglu/swiglu.ref.ts'
import { type MatmulShape, matmulNnRef, matmulNtRef, matmulTnRef } from './matmul.ref.ts'

/** gate_up [m, 2n] = a [m, k] times the transpose of b [2n, k], and out [m, n] = silu(gate) · up,
 * in f64. */
export function ntSwigluRef(a: ArrayLike<number>, b: ArrayLike<number>, shape: MatmulShape) {
  const { m, n } = shape
  const gate_up = matmulNtRef(a, b, { ...shape, n: 2 * n })
  return { gate_up, out: swigluForwardRef(gate_up, { rows: m, intermediate_size: n }) }
}

/** d_gate_up [m, 2n] for d_out = a [m, k] times b [k, n], in f64. */
export function nnSwigluRef(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  gate_up: ArrayLike<number>,
  shape: MatmulShape,
): Float64Array {
  const d_out = matmulNnRef(a, b, shape)
  return swigluBackwardRef(gate_up, d_out, { rows: shape.m, intermediate_size: shape.n })
}

/** The transpose of a [k, m] times b [k, n], and Σ_k a[k, m], in f64. The kernel adds both to what
 * is there. */
export function tnBiasRef(a: ArrayLike<number>, b: ArrayLike<number>, shape: MatmulShape) {
  return {
    out: matmulTnRef(a, b, shape),
    bias: reduceRowsRef(a, { rows: shape.k, cols: shape.m }),
  }
}
