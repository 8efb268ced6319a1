// Draws a results file's scaling suite as a figure: time per token above, planned memory below, one
// column for each size. Plain SVG; its colours can be read on white and on black.
import type { ScalingAxis, ScalingPoint, ScalingRow } from '../page/scaling.ts'
import { type BenchRecord, plannedBytes } from './record.ts'

const TITLES: Readonly<Record<ScalingAxis, string>> = {
  batch: 'batch, rows',
  layers: 'layers',
  context: 'context, tokens',
  vocabulary: 'vocabulary',
}

/** Middle tones: at least 3.5 to 1 against white and against GitHub's dark page. */
const COLOURS = {
  text: '#737b87',
  grid: '#8a929d',
  time: '#3a83d6',
  all: '#c2701c',
  activations: '#9a63c9',
  parameters: '#2f9466',
}

interface Curve {
  readonly name: string
  readonly colour: string
  readonly value: (point: ScalingPoint) => number
}

const MB = 1e6

const parameterBytes = ({ planned_bytes: { weights, gradients, optimizer } }: ScalingPoint) =>
  weights + gradients + optimizer

/** The upper row of panels and the lower one. */
const ROWS: readonly { title: string; curves: readonly Curve[] }[] = [
  {
    title: 'µs per token',
    curves: [{ name: 'one step', colour: COLOURS.time, value: (p) => 1000 * p.ms_per_token }],
  },
  {
    title: 'planned memory, MB',
    curves: [
      { name: 'all', colour: COLOURS.all, value: (p) => plannedBytes(p) / MB },
      {
        name: 'activations',
        colour: COLOURS.activations,
        value: (p) => p.planned_bytes.activations / MB,
      },
      {
        name: 'weights, gradients, moments',
        colour: COLOURS.parameters,
        value: (p) => parameterBytes(p) / MB,
      },
    ],
  },
]

const PANEL = { width: 176, height: 136, gap_x: 20, gap_y: 56 }
const LEFT = 52
const TOP = 78
const RIGHT = 14
const BOTTOM = 46

/** A logarithmic scale from `low … high` to `from … to`. */
interface Scale {
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
}

function logScale([low, high]: readonly [number, number], from: number, to: number): Scale {
  const [start, end] = [Math.log(low), Math.log(high)]
  const at = (value: number) => from + ((Math.log(value) - start) / (end - start)) * (to - from)
  const marks = ROUND.filter((mark) => mark >= low && mark <= high)
  const decades = marks.filter((mark) => Number.isInteger(Math.log10(mark)))
  return { at, ticks: marks.length > MAX_TICKS ? decades : marks }
}

/** 1, 2 and 5 times powers of ten. */
const ROUND = Array.from({ length: 24 }, (_, i) => i - 9).flatMap((power) =>
  [1, 2, 5].map((n) => Number(`${n}e${power}`)),
)
const MAX_TICKS = 7

/** The round numbers next to all values of a row of panels, which share their scale so that they
 * can be compared. */
function rangeAround(values: readonly number[]): [number, number] {
  const low = ROUND.findLast((mark) => mark <= Math.min(...values)) ?? ROUND[0]
  const high = ROUND.find((mark) => mark >= Math.max(...values)) ?? ROUND[ROUND.length - 1]
  return [low, high > low ? high : 10 * low]
}

const xmlText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const short = (n: number) => (n >= 1000 ? `${Math.round(n / 1000)}k` : `${n}`)
const px = (n: number) => n.toFixed(1)

/** Sizes that get a label: the ends, and those between that leave each other room. */
function labelled(values: readonly number[], x: Scale): number[] {
  const half = (value: number) => 3.5 * short(value).length
  const areApart = (a: number, b: number) => x.at(b) - x.at(a) >= half(a) + half(b) + 5
  const kept = [values[0]]
  const last = values[values.length - 1]
  for (const value of values.slice(1, -1))
    if (areApart(kept[kept.length - 1], value) && areApart(value, last)) kept.push(value)
  return [...kept, last]
}

function curve({ colour, value }: Curve, points: readonly ScalingPoint[], x: Scale, y: Scale) {
  const places = points.map((point) => [px(x.at(point.value)), px(y.at(value(point)))])
  const line = places.map(([left, top], i) => `${i ? 'L' : 'M'}${left} ${top}`).join('')
  const dots = places.map(([left, top]) => `<circle cx="${left}" cy="${top}" r="2.6"/>`).join('')
  return `<path d="${line}" fill="none" stroke="${colour}" stroke-width="1.8" stroke-linejoin="round"/><g fill="${colour}">${dots}</g>`
}

function panel(
  { axis, base, points }: ScalingRow,
  curves: readonly Curve[],
  [left, top]: readonly [number, number],
  range: readonly [number, number],
  { hasNumbers, hasSizes }: { hasNumbers: boolean; hasSizes: boolean },
): string {
  const [right, bottom] = [left + PANEL.width, top + PANEL.height]
  const sizes = points.map(({ value }) => value)
  const inset = 10
  const x = logScale([Math.min(...sizes), Math.max(...sizes)], left + inset, right - inset)
  const y = logScale(range, bottom, top)
  const grid = y.ticks.map((tick) => {
    const line = `<path d="M${left} ${px(y.at(tick))}H${right}" stroke="${COLOURS.grid}" stroke-opacity=".3"/>`
    const number = `<text x="${left - 7}" y="${px(y.at(tick) + 4)}" text-anchor="end">${short(tick)}</text>`
    return hasNumbers ? line + number : line
  })
  const ticks = labelled(sizes, x).map(
    (size) =>
      `<text x="${px(x.at(size))}" y="${bottom + 16}" text-anchor="middle">${short(size)}</text>`,
  )
  const mark = `<path d="M${px(x.at(base))} ${top}V${bottom}" stroke="${COLOURS.grid}" stroke-opacity=".7" stroke-dasharray="2 3"/>`
  const title = `<text x="${left + PANEL.width / 2}" y="${bottom + 33}" text-anchor="middle">${TITLES[axis]}</text>`
  return [
    ...grid,
    mark,
    ...ticks,
    ...(hasSizes ? [title] : []),
    ...curves.map((one) => curve(one, points, x, y)),
  ].join('\n')
}

/** A row's title and what its curves are. */
function heading({ title, curves }: (typeof ROWS)[number], top: number): string {
  const parts = [`<text x="${LEFT}" y="${top}" font-weight="600">${xmlText(title)}</text>`]
  let left = LEFT + 8 * title.length + 14
  if (curves.length > 1)
    for (const { name, colour } of curves) {
      parts.push(
        `<path d="M${left} ${top - 4}h18" stroke="${colour}" stroke-width="2.4"/><text x="${left + 24}" y="${top}">${xmlText(name)}</text>`,
      )
      left += 24 + 6.6 * name.length + 20
    }
  return parts.join('\n')
}

/** The figure. Throws RangeError for a file without the scaling suite. */
export function scalingFigure({ scaling, adapter, machine, date }: BenchRecord): string {
  if (!scaling?.length) throw new RangeError('plot: this results file has no scaling suite')
  const width = LEFT + scaling.length * (PANEL.width + PANEL.gap_x) - PANEL.gap_x + RIGHT
  const height = TOP + ROWS.length * (PANEL.height + PANEL.gap_y) - PANEL.gap_y + BOTTOM + 14
  const points = scaling.flatMap((row) => row.points)
  const rows = ROWS.map((row, r) => {
    const { curves } = row
    const range = rangeAround(curves.flatMap(({ value }) => points.map(value)))
    const top = TOP + r * (PANEL.height + PANEL.gap_y)
    const panels = scaling.map((one, c) =>
      panel(one, curves, [LEFT + c * (PANEL.width + PANEL.gap_x), top], range, {
        hasNumbers: c === 0,
        hasSizes: r === ROWS.length - 1,
      }),
    )
    return [heading(row, top - 10), ...panels].join('\n')
  })
  const lines = [
    'One supervised step of a small model, of which one size at a time is changed (dotted: its value in the others).',
    `${adapter}, ${machine}, ${date}`,
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${COLOURS.text}" role="img" aria-label="Time per token and planned memory by batch, layers, context and vocabulary">
${lines.map((line, i) => `<text x="${LEFT}" y="${18 + 17 * i}">${xmlText(line)}</text>`).join('\n')}
${rows.join('\n')}
</svg>
`
}
