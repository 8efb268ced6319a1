// Axis domains that move in steps, so that the drawn axes stay still while lines grow inside them.

/** A closed interval of an axis, low end first. */
export type Domain = readonly [number, number]

/** Smallest of 1, 2, 2.5, 5 × 10^k that is at least `value`; 1 for anything not positive and finite. */
export function niceCeil(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 2.5, 5, 10].find((f) => f * power >= value * (1 - 1e-12)) ?? 10
  return factor * power
}

/**
 * Right end of the step axis: grows by at least 25 % once `last_step` passes `current`, never past
 * `total_steps` while the run stays within it. Starts at 20 steps.
 */
export function growSteps(current: number, last_step: number, total_steps: number): number {
  let end = current > 0 ? current : 20
  while (end < last_step) {
    const unit = niceCeil(end / 20)
    end = Math.ceil((end * 1.25) / unit) * unit
  }
  return total_steps >= last_step && total_steps > 0 ? Math.min(end, total_steps) : end
}

/**
 * Ticks at a nice distance, about `count` of them, covering [min, max]. A flat interval is opened around
 * its value; an empty one (min > max) becomes [0, 1].
 */
export function niceTicks(min: number, max: number, count: number): number[] {
  let [low, high] = min <= max ? [min, max] : [0, 1]
  // Flat, or so narrow that ticks rounded to 12 digits would coincide.
  if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
    const pad = Math.abs(low) * 0.1 || 1
    low = low >= 0 ? Math.max(0, low - pad) : low - pad
    high += pad
  }
  const unit = niceCeil((high - low) / Math.max(1, count - 1))
  const first = Math.floor(low / unit + 1e-9)
  const last = Math.ceil(high / unit - 1e-9)
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * unit).toPrecision(12)),
  )
}

/** Whole-number ticks inside a step axis, at multiples of their distance. */
export function stepTicks([low, high]: Domain, count: number): number[] {
  const unit = Math.max(1, Math.ceil(niceCeil((high - low) / Math.max(1, count))))
  const first = Math.ceil(low / unit)
  return Array.from({ length: Math.floor(high / unit) - first + 1 }, (_, i) => (first + i) * unit)
}
