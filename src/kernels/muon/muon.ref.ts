// Takes one Muon step of a matrix, in float64.

export interface MuonSettings {
  readonly lr: number
  readonly weight_decay: number
  readonly momentum: number
  readonly nesterov: boolean
  readonly ns_coefficients: { readonly a: number; readonly b: number; readonly c: number }
  readonly ns_steps: number
  readonly eps: number
  /** What lr is multiplied by in the step, and not in the decay. */
  readonly lr_ratio: number
}

/** [rows, columns], row by row. */
interface Matrix {
  readonly rows: number
  readonly columns: number
  readonly values: Float64Array
}

function product(a: Matrix, b: Matrix): Matrix {
  const values = new Float64Array(a.rows * b.columns)
  for (let i = 0; i < a.rows; i++)
    for (let k = 0; k < a.columns; k++)
      for (let j = 0; j < b.columns; j++)
        values[i * b.columns + j] += a.values[i * a.columns + k] * b.values[k * b.columns + j]
  return { rows: a.rows, columns: b.columns, values }
}

const transposed = ({ rows, columns, values }: Matrix): Matrix => ({
  rows: columns,
  columns: rows,
  values: values.map((_, i) => values[(i % rows) * columns + Math.floor(i / rows)]),
})

/** The matrix made nearly orthogonal: its singular values come near 1, in `ns_steps` steps
 * x ← a x + (b g + c g²) x with g = x xᵀ. Source: torch.optim._muon
 * _zeropower_via_newtonschulz, which computes in bfloat16. */
export function orthogonalRef(
  matrix: Matrix,
  settings: Pick<MuonSettings, 'ns_coefficients' | 'ns_steps' | 'eps'>,
): Matrix {
  if (matrix.rows > matrix.columns) return transposed(orthogonalRef(transposed(matrix), settings))
  const { ns_steps, eps } = settings
  const { a, b, c } = settings.ns_coefficients
  const norm = Math.max(eps, Math.hypot(...matrix.values))
  let x: Matrix = { ...matrix, values: matrix.values.map((value) => value / norm) }
  for (let step = 0; step < ns_steps; step++) {
    const gram = product(x, transposed(x))
    const square = product(gram, gram)
    const factor = { ...gram, values: gram.values.map((g, i) => b * g + c * square.values[i]) }
    const moved = product(factor, x)
    x = { ...x, values: x.values.map((value, i) => a * value + moved.values[i]) }
  }
  return x
}

/** One step of `weights` [rows, columns] and their momentum, in place. */
export function muonRef(
  state: { readonly weights: Float64Array; readonly m: Float64Array },
  gradient: ArrayLike<number>,
  { rows, columns }: Pick<Matrix, 'rows' | 'columns'>,
  settings: MuonSettings,
): void {
  const { lr, weight_decay, momentum, nesterov, lr_ratio } = settings
  const { weights, m } = state
  const direction = Float64Array.from(m, (_, i) => {
    m[i] += (1 - momentum) * (gradient[i] - m[i])
    return nesterov ? gradient[i] + momentum * (m[i] - gradient[i]) : m[i]
  })
  const { values } = orthogonalRef({ rows, columns, values: direction }, settings)
  for (let i = 0; i < values.length; i++)
    weights[i] = weights[i] * (1 - lr * weight_decay) - lr * lr_ratio * values[i]
}
