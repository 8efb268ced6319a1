// Draws lines of several runs or arms over one axis, with bands where a line is a mean, and every
// value at the pointer or where the arrow keys stop.
import { useMemo, useState } from 'react'
import { LineMark } from '../base/Keys.tsx'
import { Readout } from '../Readout.tsx'
import { evenAxis, linearScale } from './axes.ts'
import { type FigureLine, lineTable, spreadStops, valueAt } from './figure_lines.ts'
import { StillFigure, type StillFigureProps } from './StillFigure.tsx'
import { SvgChart } from './SvgChart.tsx'

interface LinesFigureProps extends Omit<StillFigureProps, 'children' | 'table' | 'keys'> {
  /** Its numbers, where they are more than its lines. */
  readonly table?: StillFigureProps['table']
  /** What the lower axis counts. */
  readonly unit: string
  /** What the values are in, where their text does not say it. */
  readonly yUnit?: string | undefined
  readonly lines: readonly FigureLine[]
  /** The lower axis begins at the first place, not at 0. */
  readonly isFromFirst?: boolean | undefined
  /** Its axis goes from 0 to 1. */
  readonly isShare: boolean
  /** Shares that lie near one another have an axis around them, not from 0 to 1. */
  readonly isFitted?: boolean
  readonly height?: number
  readonly formatX: (at: number) => string
  readonly formatY: (value: number) => string
  readonly formatValue: (value: number | undefined) => string
  /** The lines are named here, and not above several figures. */
  readonly hasNames?: boolean
  /** The place that is marked and read out while nobody points; the end where not given. */
  readonly start?: number | undefined
  /** Where a person points on several figures with this axis; its own where not given. */
  readonly cursor?: Cursor | undefined
}

export interface Cursor {
  readonly at: number | undefined
  readonly move: (at: number | undefined) => void
}

const HEIGHT = 170

/** Of an axis around shares: less would make a difference of nothing look large. */
const LEAST_SPAN = 0.2

/** 0 and 1; where fitted, as much around the values as an axis has at least. */
function boundsOfShares(values: readonly number[], isFitted: boolean): [number, number] {
  const known = values.filter(Number.isFinite)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  if (!isFitted || known.length === 0 || high - low > 0.5) return [0, 1]
  const room = Math.max(0, LEAST_SPAN - (high - low)) / 2
  return [Math.max(0, low - room), Math.min(1, high + room)]
}

function useDrawing(props: LinesFigureProps) {
  const { lines, unit, isShare, isFitted = false, isFromFirst, formatX } = props
  return useMemo(() => {
    const drawn = lines.map((line) => ({ ...line, chosen: spreadStops(line) }))
    const stops = [...new Set(drawn.flatMap(({ at, chosen }) => chosen.map((i) => at[i])))]
    const bands = drawn.flatMap((line) => {
      const { key, color, at, chosen } = line
      const { low, high } = line.smooth ?? line
      return low && high
        ? [
            {
              key,
              color,
              points: chosen
                .filter((i) => Number.isFinite(low[i]) && Number.isFinite(high[i]))
                .map((i): [number, number, number] => [at[i], low[i], high[i]]),
            },
          ]
        : []
    })
    const points = ({ at, chosen }: (typeof drawn)[number], values: ArrayLike<number>) =>
      chosen.map((i): [number, number] => [at[i], values[i]])
    const measured = drawn.flatMap((line) =>
      line.smooth
        ? [
            {
              key: `${line.key} as measured`,
              color: line.color,
              width: 1,
              behind: line.key,
              points: points(line, line.middle),
            },
          ]
        : [],
    )
    const paths = [
      ...measured,
      ...drawn.map((line) => ({
        key: line.key,
        label: line.short ?? line.label,
        title: line.label,
        color: line.color,
        nameColor: line.nameColor,
        width: 1.75,
        dash: line.dash,
        points: points(line, (line.smooth ?? line).middle),
      })),
    ]
    const values = [
      ...paths.flatMap(({ points }) => points.map(([, value]) => value)),
      ...bands.flatMap(({ points }) => points.flatMap(([, low, high]) => [low, high])),
    ]
    return {
      axis: evenAxis(
        unit,
        stops.sort((a, b) => a - b),
        formatX,
        isFromFirst,
      ),
      scale: isShare ? linearScale([], boundsOfShares(values, isFitted)) : linearScale(values),
      bands,
      paths,
    }
  }, [lines, unit, isShare, isFitted, isFromFirst, formatX])
}

/** A name is at the end of its line, and so is its value; the axis has the unit. */
function endsOf({ lines, yUnit, formatValue }: LinesFigureProps): ReadonlyMap<string, string> {
  const unit = yUnit === undefined ? '' : ` ${yUnit}`
  return new Map(
    lines.map((line) => {
      const value = line.end ?? formatValue(valueAt(line, undefined))
      return [line.key, value.endsWith(unit) ? value.slice(0, value.length - unit.length) : value]
    }),
  )
}

export function LinesFigure(props: LinesFigureProps) {
  const { title, unit, lines, start, formatX, formatValue, hasNames = false } = props
  const { axis, scale, bands, paths } = useDrawing(props)
  const [own, setOwn] = useState<number>()
  const { at, move } = props.cursor ?? { at: own, move: setOwn }
  const [lit, setLit] = useState<string>()
  const read = at ?? start
  const where = read === undefined ? 'at the end' : `${unit} ${formatX(read)}`
  // Alone below the chart, it says what the numbers in it are.
  const written = read === undefined && hasNames ? 'Beside each name: its value at the end' : where
  const values = lines.map((line) => ({ ...line, value: formatValue(valueAt(line, read)) }))
  const ends = endsOf(props)
  /** Up to the next line above at that place, or down; behind the last one none. */
  const moveLit = (by: 1 | -1) => {
    const ordered = lines.toSorted((a, b) => (valueAt(a, read) ?? 0) - (valueAt(b, read) ?? 0))
    const now = ordered.findIndex(({ key }) => key === lit)
    setLit(ordered[now < 0 ? (by > 0 ? 0 : ordered.length - 1) : now + by]?.key)
  }
  const said = values.filter(({ key }) => lit === undefined || key === lit)
  const text = `${where}: ${said.map(({ label, value }) => `${label} ${value}`).join('; ')}`
  return (
    <StillFigure
      {...props}
      keys={hasNames ? undefined : lines.map(({ label, color, dash }) => ({ label, color, dash }))}
      table={props.table ?? ((most) => lineTable(lines, { unit, formatX, formatValue, most }))}
    >
      {(id) => (
        <>
          <SvgChart
            id={`${id}-chart`}
            summary={`${title}, ${text}`}
            height={props.height ?? HEIGHT}
            axis={axis}
            scale={scale}
            formatY={props.formatY}
            unit={props.yUnit}
            hasLabels
            lines={paths.map((path) => ({ ...path, value: ends.get(path.key) }))}
            bands={bands}
            cursor={read}
            onCursor={move}
            lit={lit}
            onLit={lines.length > 1 ? setLit : undefined}
          />
          <div
            className={hasNames ? 'lines-values has-names' : 'lines-values'}
            data-inside={read !== undefined || undefined}
            // A place that is read out at all times has the names of its values at all times.
            data-named={start !== undefined || undefined}
          >
            <Readout
              id={`${id}-value`}
              label={`${unit}, in “${title}”`}
              read={() => ({ stops: axis.stops, at, text, written })}
              onMove={(stop) => {
                move(stop)
                if (stop === undefined) setLit(undefined)
              }}
              {...(lines.length > 1 && { onVertical: moveLit })}
            />
            <ul data-testid={`${id}-values`}>
              {values.map(({ key, label, color, dash, value }) => (
                <li
                  key={key}
                  title={label}
                  data-muted={(lit !== undefined && lit !== key) || undefined}
                  onPointerEnter={() => setLit(key)}
                  onPointerLeave={() => setLit(undefined)}
                >
                  <LineMark color={color} dash={dash} />
                  <span className="line-name">{label}</span> <b>{value}</b>
                </li>
              ))}
            </ul>
          </div>
        </>
      )}
    </StillFigure>
  )
}
