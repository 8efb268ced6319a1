// Holds the steps that all charts show.
import { type Domain, growSteps } from './domain.ts'

/** A chosen range of steps; without an end it follows the newest one. */
export interface Zoom {
  readonly low: number
  readonly high: number | undefined
}

/** The zoom between two steps in any order: whole steps, at least one apart. It follows the run
 * where its end is the newest step or later; undefined where that is everything. */
export function zoomBetween(a: number, b: number, newest: number): Zoom | undefined {
  const low = Math.max(0, Math.min(Math.round(Math.min(a, b)), newest - 1))
  const high = Math.max(low + 1, Math.round(Math.max(a, b)))
  if (high < newest) return { low, high }
  return low === 0 ? undefined : { low, high: undefined }
}

export interface StepsShown {
  readonly zoom: Zoom | undefined
  readonly newest: number
  /** Steps that are planned. */
  readonly planned: number
}

/** The step axis of every chart: what was zoomed to, else from the first step to an end that grows
 * in steps. */
export function shownSteps({ zoom, newest, planned }: StepsShown): Domain {
  if (zoom?.high !== undefined) return [zoom.low, zoom.high]
  const low = zoom?.low ?? 0
  return [low, low + growSteps(0, newest - low, Math.max(0, planned - low))]
}
