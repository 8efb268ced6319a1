// Computes RMSNorm and its gradients in float64.
export interface NormShape {
  readonly rows: number
  readonly cols: number
  readonly eps: number
}

/** y [R, C] and inv_rms [R] of x [R, C] and weight [C], in f64. */
export function rmsNormForwardRef(
  x: ArrayLike<number>,
  weight: ArrayLike<number>,
  { rows, cols, eps }: NormShape,
): { y: Float64Array; inv_rms: Float64Array } {
  const y = new Float64Array(rows * cols)
  const inv_rms = new Float64Array(rows)
  for (let r = 0; r < rows; r++) {
    let sum = 0
    for (let c = 0; c < cols; c++) sum += x[r * cols + c] ** 2
    inv_rms[r] = 1 / Math.sqrt(sum / cols + eps)
    for (let c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * inv_rms[r] * weight[c]
  }
  return { y, inv_rms }
}

/** d_x [R, C] and d_weight [C] from d_y [R, C], in f64. */
export function rmsNormBackwardRef(
  x: ArrayLike<number>,
  weight: ArrayLike<number>,
  d_y: ArrayLike<number>,
  shape: NormShape,
): { d_x: Float64Array; d_weight: Float64Array } {
  const { rows, cols } = shape
  const { inv_rms } = rmsNormForwardRef(x, weight, shape)
  const d_x = new Float64Array(rows * cols)
  const d_weight = new Float64Array(cols)
  for (let r = 0; r < rows; r++) {
    const inv = inv_rms[r]
    let sum = 0
    for (let c = 0; c < cols; c++) sum += d_y[r * cols + c] * weight[c] * x[r * cols + c]
    for (let c = 0; c < cols; c++) {
      const i = r * cols + c
      d_x[i] = inv * d_y[i] * weight[c] - (x[i] * inv ** 3 * sum) / cols
      d_weight[c] += d_y[i] * x[i] * inv
    }
  }
  return { d_x, d_weight }
}
