/** Finds the indices of the numbers that are Inf or NaN and count, in order. */
export const nonfiniteRef = (values: ArrayLike<number>, counts: (i: number) => boolean): number[] =>
  Array.from(values, (x, i) => (counts(i) && !Number.isFinite(x) ? i : -1)).filter((i) => i >= 0)
