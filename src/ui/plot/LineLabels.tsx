// Draws the name of each line beside its end, right of the plot, so that nobody has to look for it
// in the legend. Moves with the line, without rendering.
import { useEffect, useRef } from 'react'
import { smoothed } from '../scales/smooth.ts'
import { stepPixel, toPixel, type View } from '../scales/view.ts'
import { seriesOf } from '../shown/run.ts'
import { uiStore } from '../shown/store.ts'
import { type Line, weightOf } from './chart_lines.ts'
import { gutterLabels } from './lines/place_labels.ts'

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
    const place = () => {
      const names = [...(list.current?.children ?? [])] as HTMLElement[]
      const paths = [...(strokes.current?.children ?? [])]
      const ends = lines.map((line) => endOf(line, view))
      gutterLabels(ends, HEIGHT, view).forEach((label, i) => {
        names[i].hidden = label === undefined
        paths[i].setAttribute(
          'd',
          label ? `M${label.stroke.map(({ x, y }) => `${x} ${y}`).join('L')}` : '',
        )
        if (label)
          names[i].style.transform = `translate(${label.left}px, ${Math.round(label.top)}px)`
      })
    }
    place()
    return uiStore.subscribe((now, before) => {
      if (now.frame !== before.frame || now.smoothing !== before.smoothing) place()
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
