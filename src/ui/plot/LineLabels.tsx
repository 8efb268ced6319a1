// Draws the name of each line with its value right of the plot, at that value's height, in place of
// a legend: a click hides a line. Moves with the line, without rendering.
import { type CSSProperties, useEffect, useRef } from 'react'
import { cssColor } from '../scales/css_colors.ts'
import { smoothed } from '../scales/smooth.ts'
import { stepPixel, toPixel, type View } from '../scales/view.ts'
import { keepWritten, lineStep, readStep } from '../shown/readout.ts'
import { seriesOf } from '../shown/run.ts'
import { uiStore } from '../shown/store.ts'
import { type Line, type NumberedLine, weightOf } from './chart_lines.ts'
import { type FormatValue, LineEntry } from './Legend.tsx'
import { type GutterLabel, gutterLabels, STROKES } from './lines/place_labels.ts'

const HEIGHT = 24
/** Pixels right of the plot that a name needs. */
const LEAST_GUTTER = 60

/** Where the newest point of a line, smoothed so much, is at or before a step of the view;
 * undefined where it has none there. */
function pointOf(
  { metric }: Line,
  view: View,
  { until, weight }: { readonly until: number; readonly weight: number },
): { x: number; y: number } | undefined {
  const columns = seriesOf(metric)
  if (!columns || uiStore.getState().hiddenLines.has(metric)) return undefined
  const { steps, values, length } = smoothed(columns, weight)
  let at = length - 1
  while (at >= 0 && (steps[at] > until || !Number.isFinite(values[at]))) at--
  if (at < 0 || steps[at] < view.x[0]) return undefined
  const y = view.height - toPixel(values[at], view.y, view.height, view.logY)
  return Number.isFinite(y) ? { x: stepPixel(steps[at], view), y } : undefined
}

/** In whole pixels, so that what moves less is not drawn again. */
const strokePath = ({ stroke }: GutterLabel): string =>
  `M${stroke.map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`).join('L')}`

export interface LineLabelsProps {
  readonly lines: readonly NumberedLine[]
  readonly view: View
  readonly formatValue: FormatValue
  /** Whether the chart has a gutter: without one a legend names the lines. */
  readonly onNamed: (isNamed: boolean) => void
}

export function LineLabels({ lines, view, formatValue, onNamed }: LineLabelsProps) {
  const list = useRef<HTMLUListElement>(null)
  const strokes = useRef<SVGSVGElement>(null)
  const { width, height, right = 0 } = view
  const hasGutter = right >= LEAST_GUTTER
  useEffect(() => onNamed(hasGutter), [onNamed, hasGutter])
  useEffect(() => {
    if (!hasGutter) return
    const placed: string[] = []
    const drawn = (i: number) => strokes.current?.children[i]
    // Like the values beside them: every write has the page lay out the names again.
    return keepWritten(() => {
      const step = lineStep()
      const isRead = step !== undefined && step === readStep()
      const { smoothing } = uiStore.getState()
      // Each name lies where its value does: a height of one step beside a value of another
      // would be no reading.
      const until = Math.min(step ?? view.x[1], view.x[1])
      const ends = lines.map((line) =>
        pointOf(line, view, { until, weight: weightOf(line, smoothing, seriesOf(line.metric)) }),
      )
      // Of a step before the end the points are marked, and nothing leads to them.
      if (isRead)
        ends.forEach((point, i) => {
          const { x, y } = point ?? { x: -9, y: -9 }
          drawn(lines.length + i)?.setAttribute('transform', `translate(${x} ${y})`)
        })
      strokes.current?.classList.toggle('is-read', isRead)
      // A line that is not there keeps its name, at the bottom.
      const places = ends.map((end) => end ?? { x: width, y: height })
      gutterLabels(places, HEIGHT, view).forEach((label, i) => {
        const name = list.current?.children[i] as HTMLElement | undefined
        if (!label || !name) return
        const move = `translate(${label.left}px, ${Math.round(label.top)}px)`
        const stroke = ends[i] ? strokePath(label) : ''
        if (move + stroke === placed[i]) return
        placed[i] = move + stroke
        drawn(i)?.setAttribute('d', stroke)
        name.style.transform = move
      })
    })
  }, [lines, view, width, height, hasGutter])
  if (!hasGutter) return null
  const style = { '--room': `${right - STROKES}px` } as CSSProperties
  return (
    <>
      <svg ref={strokes} aria-hidden="true" width={width + right} height={height}>
        {lines.map((line) => (
          <path key={line.metric} stroke={cssColor(line.color)} />
        ))}
        {lines.map((line) => (
          <circle key={line.metric} r="3.5" fill={cssColor(line.color)} />
        ))}
      </svg>
      <ul ref={list} className="legend" style={style}>
        {lines.map((line) => (
          <LineEntry
            key={line.metric}
            line={line}
            all={lines}
            color={cssColor(line.color)}
            formatValue={formatValue}
          />
        ))}
      </ul>
    </>
  )
}
