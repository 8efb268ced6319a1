// Multiplies matrices in float64.
export interface MatmulShape {
  readonly m: number
  readonly n: number
  readonly k: number
}

/** out[i, j] = Σ_p a(i, p) b(p, j), in f64; the callers say where the elements lie. */
function product(
  { m, n, k }: MatmulShape,
  a: (i: number, p: number) => number,
  b: (p: number, j: number) => number,
): Float64Array {
  const out = new Float64Array(m * n)
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0
      for (let p = 0; p < k; p++) sum += a(i, p) * b(p, j)
      out[i * n + j] = sum
    }
  return out
}

/** a [m, k] times b [k, n]. */
export function matmulNnRef(a: ArrayLike<number>, b: ArrayLike<number>, shape: MatmulShape) {
  const { n, k } = shape
  return product(
    shape,
    (i, p) => a[i * k + p],
    (p, j) => b[p * n + j],
  )
}

/** a [m, k] times the transpose of b [n, k]. */
export function matmulNtRef(a: ArrayLike<number>, b: ArrayLike<number>, shape: MatmulShape) {
  const { k } = shape
  return product(
    shape,
    (i, p) => a[i * k + p],
    (p, j) => b[j * k + p],
  )
}

/** The transpose of a [k, m] times b [k, n]. */
export function matmulTnRef(a: ArrayLike<number>, b: ArrayLike<number>, shape: MatmulShape) {
  const { m, n } = shape
  return product(
    shape,
    (i, p) => a[p * m + i],
    (p, j) => b[p * n + j],
  )
}

/** a [m, k] times the transpose of b [n, k], plus addend[i · addend_stride + j]. */
export function matmulNtAddRef(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  addend: ArrayLike<number>,
  shape: MatmulShape & { readonly addend_stride: number },
) {
  return matmulNtRef(a, b, shape).map(
    (x, at) => x + addend[Math.floor(at / shape.n) * shape.addend_stride + (at % shape.n)],
  )
}
