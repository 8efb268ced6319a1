// Converts values to pixels of a plot and back, on linear and logarithmic axes.
import type { Domain } from './domain.ts'
import { placeOf, type StepScale, stepAtPlace } from './step_scale.ts'

/** Where a plot lies: data domains and its size in CSS pixels, origin at the top left. */
export interface View {
  readonly x: Domain
  readonly y: Domain
  readonly width: number
  readonly height: number
  /** Pixels right of the plot, where names of lines can lie; few where they cannot. */
  readonly right?: number
  /** Pixels left of the plot, where values are written. */
  readonly left?: number
  /** Pixels above the plot, where phases and changes are written. */
  readonly top?: number
  /** Logarithmic axes: their domains are above 0, and what is not is a gap. */
  readonly logX?: boolean
  readonly logY?: boolean
  /** Of phases of equal width, on an axis of steps that is neither even nor logarithmic. */
  readonly scale?: StepScale | undefined
}

/** What says where a step lies. */
export type Across = Pick<View, 'x' | 'width' | 'logX' | 'scale'>

/** Pixel of a value along an axis of `size` pixels; NaN for what a logarithmic axis cannot show. */
export function toPixel(
  value: number,
  [low, high]: Domain,
  size: number,
  isLog: boolean | undefined = false,
): number {
  if (!isLog) return ((value - low) / (high - low || 1)) * size
  return value > 0 ? (Math.log(value / low) / (Math.log(high / low) || 1)) * size : Number.NaN
}

/** Value under a pixel: the reverse of `toPixel`. */
export function fromPixel(
  pixel: number,
  [low, high]: Domain,
  size: number,
  isLog: boolean | undefined = false,
): number {
  if (isLog) return low * (high / low) ** (pixel / (size || 1))
  // So that whole steps per pixel stay whole.
  return low + pixel * ((high - low) / (size || 1))
}

/** An interval of steps in the places of a scale. */
export const placesOf = ([low, high]: Domain, scale: StepScale | undefined): Domain => [
  placeOf(low, scale),
  placeOf(high, scale),
]

/** Pixel of a step from the left of the plot. */
export const stepPixel = (step: number, { x, width, logX, scale }: Across): number =>
  scale && !logX
    ? toPixel(placeOf(step, scale), placesOf(x, scale), width)
    : toPixel(step, x, width, logX)

/** Step under a pixel: the reverse of `stepPixel`. */
export const pixelStep = (pixel: number, { x, width, logX, scale }: Across): number =>
  scale && !logX
    ? stepAtPlace(fromPixel(pixel, placesOf(x, scale), width), scale)
    : fromPixel(pixel, x, width, logX)
