// Computes the products of one decode step, in f64: the reference that the shaders are tested
// against. All rows, whether they have ended or not.

type Numbers = ArrayLike<number>

/** out [m, n] = a [m, k] · b [n, k]ᵀ + addend, which is [m, n], [n] (the same for every row) or
 * absent. */
export function decodeLinearRef(
  a: Numbers,
  b: Numbers,
  { m, n, k }: { readonly m: number; readonly n: number; readonly k: number },
  addend?: Numbers,
): Float64Array {
  return Float64Array.from({ length: m * n }, (_, i) => {
    const [row, col] = [Math.floor(i / n), i % n]
    let sum = addend ? addend[i % addend.length] : 0
    for (let p = 0; p < k; p++) sum += a[row * k + p] * b[col * k + p]
    return sum
  })
}

/** out [m, n] = silu(gate) · up with gate = a · b[0 … n−1]ᵀ and up = a · b[n … 2n−1]ᵀ. */
export function decodeSwigluRef(
  a: Numbers,
  b: Numbers,
  { m, n, k }: { readonly m: number; readonly n: number; readonly k: number },
): Float64Array {
  const gateUp = decodeLinearRef(a, b, { m, n: 2 * n, k })
  return Float64Array.from({ length: m * n }, (_, i) => {
    const at = Math.floor(i / n) * 2 * n + (i % n)
    return (gateUp[at] / (1 + Math.exp(-gateUp[at]))) * gateUp[at + n]
  })
}
