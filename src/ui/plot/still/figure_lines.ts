// Finds the lines of a still figure: which of their points are drawn, read out and written down.
import { NONE } from '../../kit/format.ts'
import { spread } from '../files/chart_file.ts'
import type { NumberTable } from '../files/number_table.ts'

export interface FigureLine {
  readonly key: string
  readonly label: string
  /** What its end is called, where the others' names make a part of its own clear. */
  readonly short?: string | undefined
  /** Any CSS colour. */
  readonly color: string
  /** Of its name, where its own is too faint for letters. */
  readonly nameColor?: string | undefined
  readonly dash: readonly number[]
  /** Ascending. */
  readonly at: ArrayLike<number>
  readonly middle: ArrayLike<number>
  /** A smoothed line, which is drawn in place of what was measured: that lies faintly behind it,
   * and every number is of it. */
  readonly smooth?:
    | {
        readonly middle: ArrayLike<number>
        readonly low?: ArrayLike<number>
        readonly high?: ArrayLike<number>
      }
    | undefined
  readonly low?: ArrayLike<number>
  readonly high?: ArrayLike<number>
  readonly length: number
  /** What stands beside its name; its last value where that is absent. */
  readonly end?: string | undefined
}

/** Points of a line: more cannot be seen. */
const POINTS = 240

/** The points of a line that are drawn. */
export const spreadStops = ({ length }: FigureLine): readonly number[] => spread(length, POINTS)

/** The value of a line at a place: the newest one that was measured by then. */
export function valueAt(line: FigureLine, place: number | undefined): number | undefined {
  const { at, middle, length } = line
  let found: number | undefined
  for (let i = 0; i < length && (place === undefined || at[i] <= place); i++)
    if (Number.isFinite(middle[i])) found = middle[i]
  return found
}

interface Texts {
  readonly unit: string
  readonly formatX: (at: number) => string
  readonly formatValue: (value: number | undefined) => string
  /** Values of a line; all where not given. */
  readonly most: number | undefined
}

/** A row for each place, and a column for each line, with those of its band behind it. */
export function lineTable(lines: readonly FigureLine[], texts: Texts): NumberTable {
  const { unit, formatX, formatValue, most = Number.POSITIVE_INFINITY } = texts
  const columns = lines.flatMap(({ label, middle, low, high, at, length }) => {
    const chosen = spread(length, most)
    const column = (name: string, values: ArrayLike<number>) => ({
      name,
      values: new Map(chosen.map((i) => [at[i], values[i]])),
    })
    return [
      column(label, middle),
      ...(low && high ? [column(`${label}, low`, low), column(`${label}, high`, high)] : []),
    ]
  })
  const places = [...new Set(columns.flatMap(({ values }) => [...values.keys()]))].sort(
    (a, b) => a - b,
  )
  const cell = (value: number | undefined) => (value === undefined ? NONE : formatValue(value))
  return {
    columns: [unit, ...columns.map(({ name }) => name)],
    rows: places.map((place) => [
      formatX(place),
      ...columns.map(({ values }) => cell(values.get(place))),
    ]),
    ...(lines.some(({ length }) => length > most)
      ? { note: `Up to ${most} values of each line; the files have all.` }
      : {}),
  }
}
