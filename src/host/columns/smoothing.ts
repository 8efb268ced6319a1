// Defines, in one place, a moving average, for charts and for tables of runs.

/** The average after one more value: exponential weights wᵏ without the bias of an empty start. The
 * mean moves by (value − mean)·(1 − w) / (1 − wⁿ) with the n-th value, which equals Adam's bias
 * correction (arXiv 1412.6980, section 3) but keeps a constant series at its value to the bit.
 * `decay` is wⁿ, this value counted; the mean before the first one does not matter. */
export const nextAverage = (mean: number, value: number, weight: number, decay: number): number =>
  decay === weight ? value : mean + ((value - mean) * (1 - weight)) / (1 - decay)
