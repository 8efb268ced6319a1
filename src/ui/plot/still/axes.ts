// Makes the axes of the small charts: layers, numbers of samples, and values.
import { shortLayerName } from '../../glossary/layer_names.ts'
import { niceTicks } from '../../scales/domain.ts'

export interface Axis {
  /** What its stops count, in a word that has room left of them. */
  readonly name: string
  /** Where a person can stop, ascending. */
  readonly stops: readonly number[]
  /** What has a label; each stop where these are not given. */
  readonly ticks?: readonly number[]
  label(stop: number): string
  /** Share of the width, 0…1, also between stops. */
  place(value: number): number
}

/** Layers first…last, each with room of the same width around its name: their policies, or their
 * blocks and states. */
export function layerAxis(first: number, last: number, policies = false): Axis {
  const count = last - first + 1
  return {
    name: 'layer',
    stops: Array.from({ length: count }, (_, i) => first + i),
    label: (layer) => shortLayerName(layer, policies ? last : undefined),
    place: (layer) => (layer - first + 0.5) / count,
  }
}

/** Positive numbers by their logarithm, from edge to edge with a little room. */
export function logAxis(stops: readonly number[]): Axis {
  const [low, high] = [Math.log(stops[0] ?? 1), Math.log(stops[stops.length - 1] ?? 1)]
  return {
    name: 'k',
    stops,
    label: (stop) => `${stop}`,
    place: (value) => (high > low ? 0.04 + 0.92 * ((Math.log(value) - low) / (high - low)) : 0.5),
  }
}

/** From 0, or the first stop where that is lower or asked for, to the last stop, evenly; `name`
 * says what is counted. */
export function evenAxis(
  name: string,
  stops: readonly number[],
  label: (stop: number) => string,
  isFromFirst = false,
): Axis {
  const first = isFromFirst ? (stops[0] ?? 0) : Math.min(0, stops[0] ?? 0)
  const last = stops[stops.length - 1] ?? 1
  // The name stands where the first tick would.
  const isWhole = stops.every(Number.isInteger)
  const ticks = niceTicks(first, last, 5).filter(
    (tick) => tick > first && tick <= last && (!isWhole || Number.isInteger(tick)),
  )
  return { name, stops, ticks, label, place: (value) => (value - first) / (last - first || 1) }
}

/** The stop nearest to a share of the width. */
export function stopAt({ stops, place }: Axis, share: number): number | undefined {
  return stops.length === 0
    ? undefined
    : stops.reduce((best, stop) =>
        Math.abs(place(stop) - share) < Math.abs(place(best) - share) ? stop : best,
      )
}

export interface Scale {
  readonly ticks: readonly number[]
  /** Share of the height from the bottom, 0…1 within the scale. */
  place(value: number): number
}

const finite = (values: readonly (number | undefined)[]): number[] =>
  values.filter((value): value is number => value !== undefined && Number.isFinite(value))

/** Nice ticks around all values and around what must be seen, such as 0. */
export function linearScale(
  values: readonly (number | undefined)[],
  must: readonly number[] = [],
  count = 5,
): Scale {
  const all = [...finite(values), ...must]
  const ticks = niceTicks(Math.min(...all), Math.max(...all), count)
  return between(ticks, (value) => value)
}

/** Room at each end of a fitted scale, as a share of its values. */
const ROOM = 0.04

/** From the lowest to the highest value with a little room, and nice ticks in between. */
export function fittedScale(values: readonly (number | undefined)[], count = 6): Scale {
  const all = finite(values)
  const [low, high] = [Math.min(...all), Math.max(...all)]
  const room = ROOM * (high - low) || 1
  const [first, last] = [low - room, high + room]
  return {
    ticks: niceTicks(low, high, count).filter((tick) => tick >= first && tick <= last),
    place: (value) => (value - first) / (last - first),
  }
}

/** Powers of ten around all positive values, with 2 and 5 between them where there are few. */
export function logScale(values: readonly (number | undefined)[]): Scale {
  const all = finite(values).filter((value) => value > 0)
  const low = all.length === 0 ? 0 : Math.floor(Math.log10(Math.min(...all)) + 1e-9)
  const high = all.length === 0 ? 1 : Math.ceil(Math.log10(Math.max(...all)) - 1e-9)
  const decades = Math.max(1, high - low)
  const betweenThem = decades <= 2 ? [1, 2, 5] : [1]
  const ticks = Array.from({ length: decades }, (_, i) =>
    betweenThem.map((factor) => Number((factor * 10 ** (low + i)).toPrecision(3))),
  ).flat()
  return between([...ticks, 10 ** (low + decades)], Math.log10)
}

function between(ticks: readonly number[], of: (value: number) => number): Scale {
  const [low, high] = [of(ticks[0]), of(ticks[ticks.length - 1])]
  return { ticks, place: (value) => (of(value) - low) / (high - low || 1) }
}
