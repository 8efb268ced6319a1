// Places steps on the axis that all charts share. It is even, unless a person asks for phases of
// equal width: then steps are even within a phase only, and the axis is marked where its scale
// changes.
import { type Domain, stepTicks } from './domain.ts'

/** Where steps lie, 0 … 1: the phases' boundaries and their places, both ascending; even between
 * them and beyond. */
export interface StepScale {
  readonly steps: readonly number[]
  readonly places: readonly number[]
}

/** Pixels between two steps that are written at the axis. */
const TICK_ROOM = 44

/** The share of the axis that each phase of so many steps gets, 1 in all: as long as it is, or with
 * `isEqual` the same for all that have steps. */
export function phaseShares(phases: readonly number[], isEqual: boolean): number[] {
  const weights = isEqual ? phases.map((steps) => Math.sign(steps)) : phases
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => (all === 0 ? 1 / phases.length : weight / all))
}

/** The scale on which these phases, of so many steps each, have the same width; undefined for fewer
 * than two, which are even anyway. */
export function equalPhases(phases: readonly number[]): StepScale | undefined {
  const some = phases.filter((steps) => steps > 0)
  if (some.length < 2) return undefined
  const scale: { steps: number[]; places: number[] } = { steps: [0], places: [0] }
  some.forEach((steps, i) => {
    scale.steps.push(scale.steps[i] + steps)
    scale.places.push((i + 1) / some.length)
  })
  return scale
}

/** Where the axis changes its scale, inside `x`: the boundaries of phases of equal width. */
export const scaleBreaks = (scale: StepScale | undefined, [low, high]: Domain): number[] =>
  (scale?.steps.slice(1, -1) ?? []).filter((step) => step > low && step < high)

/** The piece of the scale that a value of `ends` lies in. */
function piece(ends: readonly number[], value: number): number {
  let at = 1
  while (at < ends.length - 1 && value > ends[at]) at++
  return at
}

function between(from: readonly number[], to: readonly number[], value: number): number {
  const at = piece(from, value)
  const slope = (to[at] - to[at - 1]) / (from[at] - from[at - 1])
  return to[at - 1] + (value - from[at - 1]) * slope
}

/** Where a step lies; without a scale, the step itself. */
export const placeOf = (step: number, scale: StepScale | undefined): number =>
  scale ? between(scale.steps, scale.places, step) : step

/** The step at a place: the reverse of `placeOf`. */
export const stepAtPlace = (place: number, scale: StepScale | undefined): number =>
  scale ? between(scale.places, scale.steps, place) : place

/** Steps to be written at an axis of `width` pixels: where phases begin, and round numbers between
 * them where there is room. */
export function scaledTicks(x: Domain, scale: StepScale, width: number): number[] {
  const across = width / (placeOf(x[1], scale) - placeOf(x[0], scale))
  const room = (a: number, b: number) => (placeOf(b, scale) - placeOf(a, scale)) * across
  const inside = scale.steps.filter((step) => step > x[0] && step < x[1])
  const ticks = [x[0]]
  for (const end of [...inside, x[1]]) {
    const begin = ticks[ticks.length - 1]
    const count = Math.floor(room(begin, end) / (1.6 * TICK_ROOM))
    const between = count < 2 ? [] : stepTicks([begin, end], count)
    for (const step of between)
      if (room(ticks[ticks.length - 1], step) >= TICK_ROOM && room(step, end) >= TICK_ROOM)
        ticks.push(step)
    if (room(ticks[ticks.length - 1], end) >= TICK_ROOM) ticks.push(end)
  }
  return ticks
}
