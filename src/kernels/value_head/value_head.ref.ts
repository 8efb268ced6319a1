// The value head in f64.

/** Sizes, named as in the kernels. */
export interface ValueHeadSizes {
  readonly rows: number
  readonly width: number
  readonly first_column: number
  readonly response_length: number
  readonly hidden_size: number
}

type Numbers = ArrayLike<number>

/** Where the state of response token i = b·R + t starts in hidden. */
const startOf = (s: ValueHeadSizes, i: number): number =>
  (Math.floor(i / s.response_length) * s.width + s.first_column + (i % s.response_length)) *
  s.hidden_size

/** values [B, R] of hidden [B·T, C]; 0 where response_mask is 0. */
export function valueHeadForwardRef(
  s: ValueHeadSizes,
  hidden: Numbers,
  weight: Numbers,
  bias: number,
  response_mask: Numbers,
): Float64Array {
  return Float64Array.from({ length: s.rows * s.response_length }, (_, i) => {
    if (response_mask[i] === 0) return 0
    let value = bias
    for (let c = 0; c < s.hidden_size; c++) value += hidden[startOf(s, i) + c] * weight[c]
    return value
  })
}

/** d_hidden [B·T, C], d_weight [C] and d_bias from d_values [B, R]; a token with d_values 0 is not read. */
export function valueHeadBackwardRef(
  s: ValueHeadSizes,
  hidden: Numbers,
  weight: Numbers,
  d_values: Numbers,
): { d_hidden: Float64Array; d_weight: Float64Array; d_bias: number } {
  const d_hidden = new Float64Array(s.rows * s.width * s.hidden_size)
  const d_weight = new Float64Array(s.hidden_size)
  let d_bias = 0
  for (let i = 0; i < s.rows * s.response_length; i++) {
    if (d_values[i] === 0) continue
    d_bias += d_values[i]
    for (let c = 0; c < s.hidden_size; c++) {
      d_hidden[startOf(s, i) + c] = d_values[i] * weight[c]
      d_weight[c] += d_values[i] * hidden[startOf(s, i) + c]
    }
  }
  return { d_hidden, d_weight, d_bias }
}
