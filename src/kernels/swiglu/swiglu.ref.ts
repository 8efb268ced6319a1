// Computes SwiGLU and its gradient in float64.
export interface SwigluShape {
  readonly rows: number
  readonly intermediate_size: number
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))

/** silu(gate) · up, for gateUp [R, 2F] → [R, F], in f64. */
export function swigluForwardRef(
  gateUp: ArrayLike<number>,
  { rows, intermediate_size }: SwigluShape,
): Float64Array {
  const out = new Float64Array(rows * intermediate_size)
  for (let r = 0; r < rows; r++)
    for (let f = 0; f < intermediate_size; f++) {
      const gate = gateUp[r * 2 * intermediate_size + f]
      const up = gateUp[(r * 2 + 1) * intermediate_size + f]
      out[r * intermediate_size + f] = gate * sigmoid(gate) * up
    }
  return out
}

/** d_gate_up [R, 2F] from d_out [R, F], in f64. */
export function swigluBackwardRef(
  gateUp: ArrayLike<number>,
  d_out: ArrayLike<number>,
  { rows, intermediate_size }: SwigluShape,
): Float64Array {
  const d_gate_up = new Float64Array(rows * 2 * intermediate_size)
  for (let r = 0; r < rows; r++)
    for (let f = 0; f < intermediate_size; f++) {
      const gateAt = r * 2 * intermediate_size + f
      const upAt = gateAt + intermediate_size
      const gate = gateUp[gateAt]
      const s = sigmoid(gate)
      const d = d_out[r * intermediate_size + f]
      d_gate_up[gateAt] = d * gateUp[upAt] * (s + gate * s * (1 - s))
      d_gate_up[upAt] = d * gate * s
    }
  return d_gate_up
}
