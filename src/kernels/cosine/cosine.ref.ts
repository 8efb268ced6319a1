// Computes norms and cosines of rows in float64.
const EPS = 1e-8

/** cosine, norm_x and norm_y [rows] of x and y [rows, cols], in f64. */
export function rowCosineRef(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  { rows, cols }: { rows: number; cols: number },
): { cosine: Float64Array; norm_x: Float64Array; norm_y: Float64Array } {
  const cosine = new Float64Array(rows)
  const norm_x = new Float64Array(rows)
  const norm_y = new Float64Array(rows)
  for (let r = 0; r < rows; r++) {
    let dot = 0
    for (let i = r * cols; i < (r + 1) * cols; i++) {
      dot += x[i] * y[i]
      norm_x[r] += x[i] ** 2
      norm_y[r] += y[i] ** 2
    }
    norm_x[r] = Math.sqrt(norm_x[r])
    norm_y[r] = Math.sqrt(norm_y[r])
    cosine[r] = dot / (Math.max(norm_x[r], EPS) * Math.max(norm_y[r], EPS))
  }
  return { cosine, norm_x, norm_y }
}
