// Where a plot lies: from values to pixels and back, on linear and logarithmic axes.
import type { Domain } from '../axes/domain.ts'

/** Where a plot lies: data domains and its size in CSS pixels, origin at the top left. */
export interface View {
  readonly x: Domain
  readonly y: Domain
  readonly width: number
  readonly height: number
  /** Logarithmic axes: their domains are above 0, and what is not is a gap. */
  readonly log_x?: boolean
  readonly log_y?: boolean
}

/** Pixel of a value along an axis of `size` pixels; NaN for what a logarithmic axis cannot show. */
export function toPixel(
  value: number,
  [low, high]: Domain,
  size: number,
  is_log: boolean | undefined = false,
): number {
  if (!is_log) return ((value - low) / (high - low || 1)) * size
  return value > 0 ? (Math.log(value / low) / (Math.log(high / low) || 1)) * size : Number.NaN
}

/** Value under a pixel: the reverse of `toPixel`. */
export function fromPixel(
  pixel: number,
  [low, high]: Domain,
  size: number,
  is_log: boolean | undefined = false,
): number {
  const share = pixel / (size || 1)
  return is_log ? low * (high / low) ** share : low + share * (high - low)
}
