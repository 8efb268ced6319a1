/** Computes sums[s] = Σ_i values[s, i] · mask[i] over values [sets, count], in f64; masked values
 * are not looked at. */
export function maskedSumRef(
  values: ArrayLike<number>,
  mask: ArrayLike<number>,
  count: number,
  sets: number,
): Float64Array {
  const sums = new Float64Array(sets)
  for (let s = 0; s < sets; s++)
    for (let i = 0; i < count; i++) if (mask[i] !== 0) sums[s] += values[s * count + i] * mask[i]
  return sums
}
