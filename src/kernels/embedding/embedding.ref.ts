// Computes embedding as a table look-up, in f64: the reference that the shaders are tested against.

/** out [tokens, C]: row inputIds[t] of weight [V, C] for each t. */
export function embeddingForwardRef(
  inputIds: ArrayLike<number>,
  weight: ArrayLike<number>,
  hiddenSize: number,
): Float64Array {
  return Float64Array.from(
    { length: inputIds.length * hiddenSize },
    (_, i) => weight[inputIds[Math.floor(i / hiddenSize)] * hiddenSize + (i % hiddenSize)],
  )
}

/** d_weight [V, C] plus the gradient, but for the row of paddingIdx: a new array. */
export function embeddingBackwardRef(
  inputIds: ArrayLike<number>,
  d_out: ArrayLike<number>,
  d_weight: ArrayLike<number>,
  hiddenSize: number,
  paddingIdx?: number,
): Float64Array {
  const sums = Float64Array.from(d_weight)
  for (let t = 0; t < inputIds.length; t++) {
    if (inputIds[t] === paddingIdx) continue
    for (let c = 0; c < hiddenSize; c++)
      sums[inputIds[t] * hiddenSize + c] += d_out[t * hiddenSize + c]
  }
  return sums
}
