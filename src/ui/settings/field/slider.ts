// Turns positions of sliders into values: positions on a linear or logarithmic scale, and the
// rounded values they stand for.

/** Positions of a slider, ends included: 0…SLIDER_TICKS. */
export const SLIDER_TICKS = 200

interface Scale {
  readonly kind: string
  readonly min?: number
  readonly max?: number
  readonly step?: number
  readonly scale?: 'linear' | 'log'
}

/** Position 0…SLIDER_TICKS of a value on its scale. */
export function sliderPosition(scaleOf: Scale, value: number): number {
  const { min = 0, max = 1, scale = 'linear' } = scaleOf
  if (scale === 'log' && min > 0)
    return (Math.log(value / min) / Math.log(max / min)) * SLIDER_TICKS
  return ((value - min) / (max - min)) * SLIDER_TICKS
}

/** Value at a slider position: two significant digits on a log scale, whole steps on a linear
 * one. */
export function sliderValue(scaleOf: Scale, position: number): number {
  const { min = 0, max = 1, scale = 'linear', step = 0, kind } = scaleOf
  // The ends themselves, whatever rounding makes of them.
  if (position <= 0) return min
  if (position >= SLIDER_TICKS) return max
  const share = position / SLIDER_TICKS
  let value = min + (max - min) * share
  if (scale === 'log' && min > 0) value = Number((min * (max / min) ** share).toPrecision(2))
  else if (step > 0) value = Number((min + Math.round((value - min) / step) * step).toPrecision(10))
  if (kind === 'integer') value = Math.round(value)
  return Math.min(max, Math.max(min, value))
}

/** Positions that a key moves a slider by. */
const KEYS: Readonly<Record<string, number>> = {
  ArrowRight: 2,
  ArrowUp: 2,
  ArrowLeft: -2,
  ArrowDown: -2,
  PageUp: 20,
  PageDown: -20,
}

/** Value after a key: as many positions further, or more where that is less than one step of the
 * value. undefined for keys that move nothing. */
export function keyedValue(scaleOf: Scale, value: number, key: string): number | undefined {
  const by = KEYS[key]
  if (by === undefined) return undefined
  let at = sliderPosition(scaleOf, value) + by
  for (;;) {
    const position = Math.min(SLIDER_TICKS, Math.max(0, at))
    const next = sliderValue(scaleOf, position)
    if (position !== at || (next - value) * by > 0) return next
    at += Math.sign(by)
  }
}
