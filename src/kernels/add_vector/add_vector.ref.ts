// Adds one vector to every row, in float64.

/** state[r, c] + vector[c], for state [R, C]. */
export const addVectorRef = (state: ArrayLike<number>, vector: ArrayLike<number>): Float64Array =>
  Float64Array.from(state, (x, i) => x + vector[i % vector.length])
