// Embedding as a table look-up, in f64: the reference that the shaders are tested against.

/** out [tokens, C]: row input_ids[t] of weight [V, C] for each t. */
export function embeddingForwardRef(
  input_ids: ArrayLike<number>,
  weight: ArrayLike<number>,
  hidden_size: number,
): Float64Array {
  return Float64Array.from(
    { length: input_ids.length * hidden_size },
    (_, i) => weight[input_ids[Math.floor(i / hidden_size)] * hidden_size + (i % hidden_size)],
  )
}

/** d_weight [V, C] plus the gradient, but for the row of padding_idx: a new array. */
export function embeddingBackwardRef(
  input_ids: ArrayLike<number>,
  d_out: ArrayLike<number>,
  d_weight: ArrayLike<number>,
  hidden_size: number,
  padding_idx?: number,
): Float64Array {
  const sums = Float64Array.from(d_weight)
  for (let t = 0; t < input_ids.length; t++) {
    if (input_ids[t] === padding_idx) continue
    for (let c = 0; c < hidden_size; c++)
      sums[input_ids[t] * hidden_size + c] += d_out[t * hidden_size + c]
  }
  return sums
}
