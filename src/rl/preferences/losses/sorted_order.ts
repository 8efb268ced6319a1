// Finds the order that sorts numbers, so that gradients can return to where they came from.

/** Places of `values` from the smallest to the largest; equal ones in their own order. */
export const sortedOrder = (values: readonly number[]): number[] =>
  values.map((_, i) => i).sort((a, b) => values[a] - values[b] || a - b)
