// Sliders: positions on a linear or logarithmic scale, and the rounded values they stand for.

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
export function sliderPosition(scale_of: Scale, value: number): number {
  const { min = 0, max = 1, scale = 'linear' } = scale_of
  if (scale === 'log' && min > 0)
    return (Math.log(value / min) / Math.log(max / min)) * SLIDER_TICKS
  return ((value - min) / (max - min)) * SLIDER_TICKS
}

/** Value at a slider position: two significant digits on a log scale, whole steps on a linear one. */
export function sliderValue(scale_of: Scale, position: number): number {
  const { min = 0, max = 1, scale = 'linear', step = 0, kind } = scale_of
  const share = position / SLIDER_TICKS
  let value = min + (max - min) * share
  if (scale === 'log' && min > 0) value = Number((min * (max / min) ** share).toPrecision(2))
  else if (step > 0) value = Number((min + Math.round((value - min) / step) * step).toPrecision(10))
  if (kind === 'integer') value = Math.round(value)
  return Math.min(max, Math.max(min, value))
}
