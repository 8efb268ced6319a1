// Draws a small still chart: lines, bands and dots over an axis of stops, with a cursor at one of
// them.
import { type PointerEvent, useId } from 'react'
import { pointing } from '../../kit/input/pointing.ts'
import { t } from '../../kit/translator.ts'
import { cssColor } from '../../scales/css_colors.ts'
import { leftOf } from '../../scales/geometry.ts'
import { useSize } from '../base/plot_hooks.ts'
import { nameGutter, namesInGutter, partOfName } from '../lines/name_room.ts'
import { type GutterLabel, gutterLabels } from '../lines/place_labels.ts'
import './still.css'
import { type Axis, type Scale, stopAt } from './axes.ts'

interface ChartLine {
  readonly key: string
  readonly label?: string
  /** Its name, where the label is less. */
  readonly title?: string | undefined
  /** Behind the name, without its unit. */
  readonly value?: string | undefined
  /** Any CSS colour. */
  readonly color: string
  /** Of its name, where its own is too faint for letters. */
  readonly nameColor?: string | undefined
  readonly width: number
  readonly dash?: readonly number[]
  /** The line that is its average, behind which this one is faint. */
  readonly behind?: string
  /** [place on the axis, value]; one that is not finite ends a piece. */
  readonly points: readonly (readonly [number, number])[]
}

interface ChartDots {
  readonly key: string
  readonly color: string
  readonly points: readonly (readonly [number, number])[]
}

interface ChartBand {
  readonly key: string
  readonly color: string
  /** [place, low, high] */
  readonly points: readonly (readonly [number, number, number])[]
}

interface ChartMark {
  readonly value: number
  readonly label?: string
}

export interface SvgChartProps {
  readonly id: string
  /** What a person hears instead of the picture. */
  readonly summary: string
  /** In full screen it is as high as there is room. */
  readonly height: number
  readonly axis: Axis
  readonly scale: Scale
  readonly formatY: (value: number) => string
  /** What the values are in, where their text does not say it. */
  readonly unit?: string | undefined
  /** Names lines at their ends, in a gutter right of the plot, where there is room. */
  readonly hasLabels?: boolean
  readonly lines: readonly ChartLine[]
  readonly dots?: readonly ChartDots[]
  readonly bands?: readonly ChartBand[]
  readonly marks?: readonly ChartMark[]
  readonly cursor: number | undefined
  readonly onCursor: (stop: number | undefined) => void
  /** The line that stands out: the others are muted. All are alike where there is none. */
  readonly lit?: string | undefined
  /** The line at the pointer or at its name. */
  readonly onLit?: ((key: string | undefined) => void) | undefined
}

const INSET = { top: 10, right: 8, bottom: 20 } as const
const LABEL_WIDTH = 24
/** Above the plot, for the unit of the values. */
const UNIT_HEIGHT = 14
/** A narrower chart has no gutter. */
const LEAST_WIDTH = 620
const NAME_HEIGHT = 13
/** Letters that have room left of the plot. */
const CORNER_LETTERS = 6
const isLong = (name: string): boolean => name.length > CORNER_LETTERS

const isDrawn = ([x, y]: readonly [number, number]) => Number.isFinite(x) && Number.isFinite(y)

export function SvgChart(props: SvgChartProps) {
  const { ref, size } = useSize()
  return (
    <div ref={ref} className="svg-chart" style={{ height: props.height }}>
      {size.width > 0 ? <Drawing {...props} {...size} /> : null}
    </div>
  )
}

/** The area that is drawn on, and the pixels of values in it. */
interface Place {
  readonly width: number
  readonly height: number
  readonly px: (value: number) => number
  readonly py: (value: number) => number
}

type PlacedProps = SvgChartProps & { readonly place: Place }

/** In the corner, or in a row of its own where it is too long for that. */
function AxisName({ name, place }: { readonly name: string; readonly place: Place }) {
  const { width, height } = place
  return isLong(name) ? (
    <text className="axis-name" x={width} y={height + 15 + NAME_HEIGHT} textAnchor="end">
      {name} →
    </text>
  ) : (
    <text className="axis-name" x={-6} y={height + 15} textAnchor="end">
      {name}
    </text>
  )
}

/** Grid, labels and marked values. */
function Axes({ axis, scale, marks = [], formatY, unit, place }: PlacedProps) {
  const { width, height, px, py } = place
  const labelled = axis.ticks ?? axis.stops
  const every = Math.max(1, Math.ceil((labelled.length * LABEL_WIDTH) / width))
  return (
    <>
      {scale.ticks.map((tick) => (
        <g key={tick} transform={`translate(0 ${py(tick).toFixed(1)})`}>
          <line x2={width} className="grid-line" />
          <text x={-6} dy="0.32em" textAnchor="end">
            {formatY(tick)}
          </text>
        </g>
      ))}
      <AxisName name={axis.name} place={place} />
      {unit === undefined ? null : (
        <text className="axis-name" x={-6} y={-UNIT_HEIGHT + 2} textAnchor="end">
          {unit}
        </text>
      )}
      {labelled.map((stop, i) =>
        i % every === 0 ? (
          <text
            key={stop}
            x={px(stop)}
            y={height + 15}
            // At the edge of a chart without a gutter half of it would be cut off.
            textAnchor={px(stop) > width - LABEL_WIDTH / 2 ? 'end' : 'middle'}
          >
            {axis.label(stop)}
          </text>
        ) : null,
      )}
      {marks.map(({ value, label }) => (
        <g key={value} transform={`translate(0 ${py(value).toFixed(1)})`}>
          <line x2={width} className={label ? 'mark-line' : 'zero-line'} />
          {label ? (
            <text x={width} y={-6} textAnchor="end">
              {label}
            </text>
          ) : null}
        </g>
      ))}
    </>
  )
}

const MUTED = 0.18
/** Pixels around a line in which the pointer means it. */
const NEAR = 24

/** How much of a line or a band is seen. */
function opacityOf(key: string, lit: string | undefined, own: number): number {
  return lit === undefined || lit === key ? own : own * MUTED
}

/** The line with a name that is nearest to a point of the plot. */
function lineAt({ lines, axis, place }: PlacedProps, share: number, y: number): string | undefined {
  const stop = stopAt(axis, share)
  if (stop === undefined) return undefined
  const near = lines.flatMap(({ key, label, points }) => {
    const point = points.findLast((one) => one[0] <= stop && isDrawn(one))
    const far = point && Math.abs(place.py(point[1]) - y)
    return label !== undefined && far !== undefined && far < NEAR ? [{ key, far }] : []
  })
  return near.sort((a, b) => a.far - b.far)[0]?.key
}

/** Band, lines and dots. */
function Curves({ axis, lines, dots = [], bands = [], lit, place }: PlacedProps) {
  const { width, px, py } = place
  const pathOf = (points: ChartLine['points']) =>
    points
      .map(([x, y], i) => {
        if (!isDrawn([x, y])) return ''
        // One value alone is a dot.
        if (points.length === 1) return `M${px(x).toFixed(1)} ${py(y).toFixed(1)}h0`
        return `${i > 0 && isDrawn(points[i - 1]) ? 'L' : 'M'}${px(x).toFixed(1)} ${py(y).toFixed(1)}`
      })
      .join('')
  return (
    <>
      {bands.map(({ key, color, points }) =>
        points.length > 0 ? (
          <path
            key={key}
            d={`${pathOf(points.map(([x, , high]) => [x, high]))}${pathOf(
              points.map(([x, low]): [number, number] => [x, low]).reverse(),
            ).replace('M', 'L')}Z`}
            style={{ fill: cssColor(color) }}
            fillOpacity={opacityOf(key, lit, 0.2)}
          />
        ) : null,
      )}
      {lines.map((line) => (
        <path
          key={line.key}
          d={pathOf(line.points)}
          fill="none"
          style={{ stroke: cssColor(line.color) }}
          strokeWidth={line.key === lit ? line.width + 1 : line.width}
          strokeDasharray={line.dash?.join(' ')}
          strokeOpacity={opacityOf(line.behind ?? line.key, lit, line.behind ? 0.35 : 1)}
          strokeLinejoin="round"
          {...(line.points.length === 1 && { strokeLinecap: 'round', strokeWidth: 6 })}
        />
      ))}
      {dots.map((group) => (
        <g key={group.key} style={{ fill: cssColor(group.color) }}>
          {group.points.filter(isDrawn).map(([x, y]) => (
            <circle key={x} cx={px(x)} cy={py(y)} r={width / axis.stops.length < 28 ? 2 : 3} />
          ))}
        </g>
      ))}
    </>
  )
}

const nameOf = ({ label = '', title = label }: ChartLine) => partOfName(label, title, t)

const gutterPath = (places: GutterLabel['stroke']): string =>
  `M${places.map(({ x, y }) => `${x} ${y}`).join('L')}`

/** The names of the lines in the gutter, each in the colour of its line and with a stroke from its
 * end. */
function Names(props: PlacedProps & { readonly gutter: number }) {
  const { lines, lit, onLit, place, gutter } = props
  const { px, py } = place
  const ends = lines.map(({ points, label }) => {
    const last = label === undefined ? undefined : points.findLast(isDrawn)
    return last && { x: px(last[0]), y: py(last[1]) }
  })
  const names = namesInGutter(lines.map(nameOf), gutter)
  return gutterLabels(ends, NAME_HEIGHT, place).map((name, i) => {
    const { key, label, title = label, value, color, nameColor = color } = lines[i]
    return name && label !== undefined ? (
      <g
        key={key}
        // A name can still be read.
        opacity={lit === undefined || lit === key ? 1 : 0.4}
        onPointerEnter={() => onLit?.(key)}
        onPointerLeave={() => onLit?.(undefined)}
      >
        {name.leader ? (
          <path
            d={gutterPath(name.leader)}
            strokeWidth={0.75}
            strokeOpacity={0.45}
            style={{ stroke: cssColor(color) }}
          />
        ) : null}
        <path d={gutterPath(name.stroke)} fill="none" style={{ stroke: cssColor(color) }} />
        <text x={name.left} y={name.top + NAME_HEIGHT - 3} style={{ fill: cssColor(nameColor) }}>
          <title>{title}</title>
          {names[i]}
          {value === undefined ? null : <tspan fontWeight={600}> {value}</tspan>}
        </text>
      </g>
    ) : null
  })
}

function Drawing(props: SvgChartProps & { readonly width: number }) {
  const { axis, scale, cursor, onCursor, onLit } = props
  const clip = useId()
  const names = props.lines.map(nameOf)
  const gutter =
    props.hasLabels === true && props.width >= LEAST_WIDTH ? nameGutter(names, props.width) : 0
  const top = INSET.top + (props.unit === undefined ? 0 : UNIT_HEIGHT)
  const right = gutter > 0 ? gutter : INSET.right
  const left = leftOf(scale.ticks.map(props.formatY))
  const width = Math.max(1, props.width - left - right)
  const bottom = INSET.bottom + (isLong(axis.name) ? NAME_HEIGHT : 0)
  const height = Math.max(1, props.height - top - bottom)
  const place: Place = {
    width,
    height,
    px: (value) => axis.place(value) * width,
    py: (value) => (1 - scale.place(value)) * height,
  }
  const move = (event: PointerEvent<SVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const share = (event.clientX - box.left) / box.width
    onCursor(stopAt(axis, share))
    onLit?.(lineAt({ ...props, place }, share, event.clientY - box.top))
  }
  const leave = () => {
    onCursor(undefined)
    onLit?.(undefined)
  }
  return (
    <svg
      role="img"
      aria-label={props.summary}
      data-testid={props.id}
      width={props.width}
      height={props.height}
    >
      <g transform={`translate(${left} ${top})`}>
        <clipPath id={clip}>
          <rect x={-3} y={-4} width={width + 6} height={height + 8} />
        </clipPath>
        <Axes {...props} place={place} />
        {cursor === undefined ? null : (
          <line x1={place.px(cursor)} x2={place.px(cursor)} y2={height} className="cursor-line" />
        )}
        <g clipPath={`url(#${clip})`}>
          <Curves {...props} place={place} />
        </g>
        {gutter > 0 ? <Names {...props} place={place} gutter={gutter} /> : null}
        <rect width={width} height={height} fill="transparent" {...pointing(move, leave)} />
      </g>
    </svg>
  )
}
