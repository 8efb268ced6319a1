import { reduce_rows_ref } from '../reduce/reduce.ref.ts'
import { swiglu_backward_ref, swiglu_forward_ref } from '../swiglu/swiglu.ref.ts'
import { type MatmulShape, matmul_nn_ref, matmul_nt_ref, matmul_tn_ref } from './matmul.ref.ts'

/** gate_up [m, 2n] = a [m, k] times the transpose of b [2n, k], and out [m, n] = silu(gate) · up,
 * in f64. */
export function nt_swiglu_ref(a: ArrayLike<number>, b: ArrayLike<number>, shape: MatmulShape) {
  const { m, n } = shape
  const gate_up = matmul_nt_ref(a, b, { ...shape, n: 2 * n })
  return { gate_up, out: swiglu_forward_ref(gate_up, { rows: m, intermediate_size: n }) }
}

/** d_gate_up [m, 2n] for d_out = a [m, k] times b [k, n], in f64. */
export function nn_swiglu_ref(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  gate_up: ArrayLike<number>,
  shape: MatmulShape,
): Float64Array {
  const d_out = matmul_nn_ref(a, b, shape)
  return swiglu_backward_ref(gate_up, d_out, { rows: shape.m, intermediate_size: shape.n })
}

/** The transpose of a [k, m] times b [k, n], and Σ_k a[k, m], in f64. The kernel adds both to what
 * is there. */
export function tn_bias_ref(a: ArrayLike<number>, b: ArrayLike<number>, shape: MatmulShape) {
  return {
    out: matmul_tn_ref(a, b, shape),
    bias: reduce_rows_ref(a, { rows: shape.k, cols: shape.m }),
  }
}
