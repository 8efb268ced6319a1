// How wide each phase is on the axis of steps: phases of reinforcement get most of it, and a short one stays wide enough to see.
// Within a phase steps are even.
import { type Domain, stepTicks } from './domain.ts'

/** Where steps lie, 0 … 1: the phases' boundaries and their places, both ascending; even between them and beyond. */
export interface StepScale {
  readonly steps: readonly number[]
  readonly places: readonly number[]
}

/** What phases of reinforcement share at least, where there are others too. */
const LEAST_SHARE = 0.72

export interface Stretch {
  readonly steps: number
  readonly is_rl: boolean
}

/** Pixels between two steps that are written at the axis. */
const TICK_ROOM = 44

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

/** The share of the axis that each phase gets, 1 in all. */
export function phaseShares(phases: readonly Stretch[]): number[] {
  const all = sum(phases.map(({ steps }) => steps))
  const rl = sum(phases.map(({ steps, is_rl }) => (is_rl ? steps : 0)))
  if (all === 0) return phases.map(() => 1 / phases.length)
  const has_both = rl > 0 && rl < all
  const rl_share = has_both ? Math.max(LEAST_SHARE, rl / all) : Math.sign(rl)
  // Square roots keep a phase of ten steps in sight beside one of a thousand.
  const roots = phases.map(({ steps }) => Math.sqrt(steps))
  const ofKind = (is_rl: boolean) => sum(roots.filter((_, i) => phases[i].is_rl === is_rl))
  return phases.map(({ is_rl }, i) =>
    roots[i] === 0 ? 0 : (roots[i] / ofKind(is_rl)) * (is_rl ? rl_share : 1 - rl_share),
  )
}

/** The scale of a run of these phases; undefined where it is even anyway. */
export function stepScale(phases: readonly Stretch[]): StepScale | undefined {
  const some = phases.filter(({ steps }) => steps > 0)
  if (some.length < 2) return undefined
  const scale: { steps: number[]; places: number[] } = { steps: [0], places: [0] }
  phaseShares(some).forEach((share, i) => {
    scale.steps.push(scale.steps[i] + some[i].steps)
    scale.places.push(scale.places[i] + share)
  })
  return scale
}

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

/** Steps to be written at an axis of `width` pixels: where phases begin, and round numbers between them where there is room. */
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
