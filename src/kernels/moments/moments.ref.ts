/** Computes (mean, population standard deviation) of values[a] − values[b] for each [a, b] of
 * `sets`, of values[a] where b is undefined, over the entries whose mask is not 0; values [rows,
 * count], in f64. Zeros where there is none. */
export function momentsRef(
  values: ArrayLike<number>,
  mask: ArrayLike<number>,
  sets: readonly (readonly [number, number?])[],
): { mean: Float64Array; std: Float64Array } {
  const count = mask.length
  const mean = new Float64Array(sets.length)
  const std = new Float64Array(sets.length)
  sets.forEach(([a, b], s) => {
    const numbers: number[] = []
    for (let i = 0; i < count; i++)
      if (mask[i] !== 0)
        numbers.push(values[a * count + i] - (b === undefined ? 0 : values[b * count + i]))
    if (numbers.length === 0) return
    mean[s] = numbers.reduce((sum, x) => sum + x, 0) / numbers.length
    const squares = numbers.reduce((sum, x) => sum + (x - mean[s]) ** 2, 0)
    std[s] = Math.sqrt(squares / numbers.length)
  })
  return { mean, std }
}
