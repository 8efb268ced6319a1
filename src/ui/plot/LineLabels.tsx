// Draws the name of each line beside its end, right of the plot, so that nobody has to look for it
// in the legend. Moves with the line, without rendering.
import { useEffect, useRef } from 'react'
import { smoothed } from '../scales/smooth.ts'
import { stepPixel, toPixel, type View } from '../scales/view.ts'
import { keepWritten } from '../shown/readout.ts'
import { seriesOf } from '../shown/run.ts'
import { uiStore } from '../shown/store.ts'
import { type Line, weightOf } from './chart_lines.ts'
import { type GutterLabel, gutterLabels } from './lines/place_labels.ts'

const HEIGHT = 13
/** Pixels right of the plot that a name needs. */
const LEAST_GUTTER = 60

/** Where a line ends in the view; undefined where it has no point there. */
function endOf(line: Line, view: View): { x: number; y: number } | undefined {
  const columns = seriesOf(line.metric)
  if (!columns) return undefined
  const weight = weightOf(line, uiStore.getState().smoothing)
  const { steps, values, length } = smoothed(columns, weight)
  let at = length - 1
  while (at >= 0 && (steps[at] > view.x[1] || !Number.isFinite(values[at]))) at--
  if (at < 0 || steps[at] < view.x[0]) return undefined
  const y = view.height - toPixel(values[at], view.y, view.height, view.logY)
  return Number.isFinite(y) ? { x: stepPixel(steps[at], view), y } : undefined
}

/** In whole pixels, so that what moves less is not drawn again. */
const strokePath = ({ stroke }: GutterLabel): string =>
  `M${stroke.map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`).join('L')}`

/** Nothing where the chart has no gutter: the legend names the lines. */
export function LineLabels({
  lines,
  view,
}: {
  readonly lines: readonly Line[]
  readonly view: View
}) {
  const list = useRef<HTMLDivElement>(null)
  const strokes = useRef<SVGSVGElement>(null)
  const hasGutter = (view.right ?? 0) >= LEAST_GUTTER
  useEffect(() => {
    if (!hasGutter) return
    const placed: (string | undefined)[] = lines.map(() => undefined)
    // Like the values beside them: every write has the page lay out the names again.
    return keepWritten(() => {
      const ends = lines.map((line) => endOf(line, view))
      gutterLabels(ends, HEIGHT, view).forEach((label, i) => {
        const stroke = label ? strokePath(label) : ''
        const name = list.current?.children[i] as HTMLElement | undefined
        if (stroke === placed[i] || !name) return
        placed[i] = stroke
        name.hidden = label === undefined
        strokes.current?.children[i].setAttribute('d', stroke)
        if (label) name.style.transform = `translate(${label.left}px, ${Math.round(label.top)}px)`
      })
    })
  }, [lines, view, hasGutter])
  if (!hasGutter) return null
  const color = (of: string) => (of.startsWith('--') ? `var(${of})` : of)
  return (
    <div className="line-labels" aria-hidden="true">
      <svg
        ref={strokes}
        aria-hidden="true"
        width={view.width + (view.right ?? 0)}
        height={view.height}
      >
        {lines.map((line) => (
          <path key={line.metric} stroke={color(line.color)} />
        ))}
      </svg>
      <div ref={list}>
        {lines.map((line) => (
          <span key={line.metric} style={{ color: color(line.color) }} title={line.label} hidden>
            {line.label}
          </span>
        ))}
      </div>
    </div>
  )
}
