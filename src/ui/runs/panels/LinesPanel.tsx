// Lines of several runs over one axis, with bands where a line is a mean, and every value at the
// pointer.
import { useMemo } from 'react'
import { spread } from '../../plot/files/chart_file.ts'
import { LineMark } from '../../plot/Keys.tsx'
import { evenAxis, linearScale } from '../../plot/still/axes.ts'
import { SvgChart } from '../../plot/still/SvgChart.tsx'

export interface PanelLine {
  readonly key: string
  readonly label: string
  /** Any CSS colour. */
  readonly color: string
  readonly dash: readonly number[]
  /** Ascending. */
  readonly at: ArrayLike<number>
  readonly middle: ArrayLike<number>
  readonly low?: ArrayLike<number>
  readonly high?: ArrayLike<number>
  readonly length: number
}

interface LinesPanelProps {
  readonly id: string
  readonly title: string
  /** What the lower axis counts. */
  readonly unit: string
  readonly lines: readonly PanelLine[]
  /** Its axis goes from 0 to 1. */
  readonly is_share: boolean
  readonly formatY: (value: number) => string
  readonly formatValue: (value: number | undefined) => string
  /** Where a person points, on all panels with this axis. */
  readonly cursor: number | undefined
  readonly onCursor: (at: number | undefined) => void
}

/** Points of a line: more cannot be seen. */
const POINTS = 240
const HEIGHT = 170

type Drawn = PanelLine & { readonly chosen: readonly number[] }

/** The value of a line at a place: the newest one that was measured by then. */
function valueAt({ at, middle, length }: PanelLine, place: number | undefined): number | undefined {
  let found: number | undefined
  for (let i = 0; i < length && (place === undefined || at[i] <= place); i++)
    if (Number.isFinite(middle[i])) found = middle[i]
  return found
}

function useDrawing(lines: readonly PanelLine[], unit: string, is_share: boolean) {
  return useMemo(() => {
    const drawn: Drawn[] = lines.map((line) => ({ ...line, chosen: spread(line.length, POINTS) }))
    const stops = [...new Set(drawn.flatMap(({ at, chosen }) => chosen.map((i) => at[i])))]
    const bands = drawn.flatMap(({ key, color, at, low, high, chosen }) =>
      low && high
        ? [
            {
              key,
              color,
              points: chosen
                .filter((i) => Number.isFinite(low[i]) && Number.isFinite(high[i]))
                .map((i): [number, number, number] => [at[i], low[i], high[i]]),
            },
          ]
        : [],
    )
    const paths = drawn.map(({ key, color, dash, at, middle, chosen }) => ({
      key,
      color,
      width: 1.75,
      dash,
      points: chosen.map((i): [number, number] => [at[i], middle[i]]),
    }))
    const values = [
      ...paths.flatMap(({ points }) => points.map(([, value]) => value)),
      ...bands.flatMap(({ points }) => points.flatMap(([, low, high]) => [low, high])),
    ]
    return {
      axis: evenAxis(
        unit,
        stops.sort((a, b) => a - b),
        (stop) => stop.toLocaleString('en'),
      ),
      scale: is_share ? linearScale([], [0, 1]) : linearScale(values),
      bands,
      paths,
    }
  }, [lines, unit, is_share])
}

export function LinesPanel(props: LinesPanelProps) {
  const { id, title, unit, lines, is_share, formatValue, cursor } = props
  const { axis, scale, bands, paths } = useDrawing(lines, unit, is_share)
  const where = cursor === undefined ? 'at the end' : `${unit} ${cursor.toLocaleString('en')}`
  const values = lines.map((line) => ({ ...line, value: formatValue(valueAt(line, cursor)) }))
  const said = values.map(({ label, value }) => `${label}: ${value}`).join('; ')
  return (
    <figure className="lines-panel" data-testid={id}>
      <figcaption>
        <h3>{title}</h3>
        <small className="soft">{where}</small>
      </figcaption>
      <SvgChart
        id={`${id}-chart`}
        summary={`${title}, ${where}. ${said}`}
        height={HEIGHT}
        axis={axis}
        scale={scale}
        formatY={props.formatY}
        lines={paths}
        bands={bands}
        cursor={cursor}
        onCursor={props.onCursor}
      />
      <ul className="lines-values" data-testid={`${id}-values`}>
        {values.map(({ key, label, color, dash, value }) => (
          <li key={key} title={label}>
            <LineMark color={color} dash={dash} /> {value}
          </li>
        ))}
      </ul>
    </figure>
  )
}
