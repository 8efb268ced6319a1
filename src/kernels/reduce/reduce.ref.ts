/** Computes Σ_r x[r, c] for x [R, C], in f64. The kernel adds this to what `out` holds. */
export function reduceRowsRef(
  x: ArrayLike<number>,
  { rows, cols }: { rows: number; cols: number },
): Float64Array {
  const out = new Float64Array(cols)
  for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) out[c] += x[r * cols + c]
  return out
}
