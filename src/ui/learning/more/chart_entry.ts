// Describes a chart as a list declares it, and the usual lines.
import type { formatShare } from '../../kit/format.ts'
import type { Line } from '../../plot/chart_lines.ts'
import type { Ideal } from '../../scales/ideal.ts'

/** Which metrics a chart draws. */
export interface MoreChart {
  readonly id: string
  readonly title: string
  /** Undefined where nobody knows how the numbers were taken. */
  readonly note?: string | undefined
  readonly lines: readonly Line[]
  readonly format?: typeof formatShare
  readonly isShare?: boolean
  readonly ideal?: Ideal
  /** Many lines, which need room. */
  readonly isWide?: boolean
}

/** One line in the colour of its place. */
export const line = (metric: string, label: string, place = 0, help?: string): Line => ({
  metric,
  label,
  color: `--series-${place + 1}`,
  width: 1.5,
  dash: [[], [7, 3], [2, 3]][place],
  ...(help === undefined ? {} : { help }),
})

const RANGE = [
  { of: 'mean', label: 'mean' },
  { of: 'max', label: 'largest' },
  { of: 'min', label: 'smallest' },
]

/** verl's mean, max and min of one quantity. */
export const range = (quantity: string): readonly Line[] =>
  RANGE.map(({ of, label }, place) => line(`${quantity}/${of}`, label, place))
