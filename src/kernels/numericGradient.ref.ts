/** Computes the gradient of a scalar function by central differences, (f(x + h) − f(x − h)) / 2h
 * per element. With h = 1e-5 and f of order one in f64, truncation and rounding leave it right to
 * about 1e-9. */
export function numericGradient(
  f: (x: Float64Array) => number,
  at: ArrayLike<number>,
): Float64Array {
  const h = 1e-5
  const x = Float64Array.from(at)
  return x.map((value, i) => {
    x[i] = value + h
    const above = f(x)
    x[i] = value - h
    const below = f(x)
    x[i] = value
    return (above - below) / (2 * h)
  })
}

/** Σ_i a[i] b[i]: turns a tensor into the scalar whose gradient is asked for. */
export function weightedSum(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
  return sum
}
