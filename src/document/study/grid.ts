// Lists the points of a grid: every choice of one value for each of its fields, or some of them by
// chance.
import { Mt19937 } from '../../rl/math/mt19937.ts'
import type { Axis, Settings, Study } from './study.ts'

/** More arms than these cannot be read side by side. */
export const MOST_ARMS = 64

/** Six digits: a setting is written down, and a link or a table must bring it back. */
const rounded = (x: number, whole: boolean) => (whole ? Math.round(x) : Number(x.toPrecision(6)))

function between(axis: Exclude<Axis, unknown[]>, share: number): number {
  const { from, to, scale, whole } = axis
  const x = scale === 'log' ? from * (to / from) ** share : from + (to - from) * share
  return rounded(x, whole)
}

/** The values of an axis, in order. */
export function axisValues(axis: Axis): readonly unknown[] {
  if (Array.isArray(axis)) return axis
  const { count } = axis
  const all = Array.from({ length: count }, (_, i) =>
    between(axis, count === 1 ? 0 : i / (count - 1)),
  )
  return [...new Set(all)]
}

const RANGE = /^\s*(\S+?)\s*\.\.\s*(\S+)\s+(log\s+)?(\d+)\s*$/

/** What a person wrote: `1e-4, 3e-4`, words as they are, or `1e-4..1e-2 log 5`, five numbers in
 * equal ratios; without log evenly. Signs of Chinese separate as well. */
export function readAxis(text: string): Axis {
  const [, from, to, log, count] = RANGE.exec(text) ?? []
  if (count !== undefined)
    return {
      from: Number(from),
      to: Number(to),
      count: Number(count),
      scale: log ? 'log' : 'linear',
      whole: Number.isInteger(Number(from)) && Number.isInteger(Number(to)),
    }
  return text
    .split(/[,;，、；]\s*|\s+/)
    .filter((part) => part !== '')
    .map((part) => {
      if (Number.isFinite(Number(part))) return Number(part)
      return part === 'true' || part === 'false' ? part === 'true' : part
    })
}

/** An axis as a person writes it, which readAxis reads again; undefined where that is not the
 * same. */
export function axisText(axis: Axis): string | undefined {
  const text = Array.isArray(axis)
    ? axis.join(', ')
    : [`${axis.from}..${axis.to}`, ...(axis.scale === 'log' ? ['log'] : []), axis.count].join(' ')
  return JSON.stringify(readAxis(text)) === JSON.stringify(axis) ? text : undefined
}

/** How many arms a study asks for, without making them. */
export function countArms(study: Study): number {
  const { search } = study
  const points = gridsOf(study).map((grid) =>
    Object.values(grid).reduce((n, axis) => n * axisValues(axis).length, 1),
  )
  return points.reduce((sum, n) => sum + (search ? search.arms : n), 0)
}

/** The grid of each of the study's arms. */
export const gridsOf = ({ arms, grid }: Study): readonly Study['grid'][] =>
  arms.length > 0 ? arms.map((arm) => arm.grid ?? grid) : [grid]

/** The points of the grid; of a search, `search.arms` random ones: ranges are drawn from in
 * between, too. */
export function gridPoints(grid: Study['grid'], { search }: Study): Settings[] {
  const axes = Object.entries(grid)
  if (!search)
    return axes.reduce<Settings[]>(
      (points, [path, axis]) =>
        points.flatMap((point) => axisValues(axis).map((value) => ({ ...point, [path]: value }))),
      [{}],
    )
  const random = new Mt19937(search.seed)
  const points = new Map<string, Settings>()
  // A small space has fewer points than were asked for.
  for (let tries = 0; points.size < search.arms && tries < 100 * search.arms; tries++) {
    const point = Object.fromEntries(
      axes.map(([path, axis]) => {
        if (Array.isArray(axis)) return [path, axis[random.integers(axis.length, 1)[0]]]
        return [path, between(axis, random.uint32() / 2 ** 32)]
      }),
    )
    points.set(JSON.stringify(point), point)
  }
  return [...points.values()]
}
