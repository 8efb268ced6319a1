// The name of each line at its end, so that nobody has to look for it in the legend. Moves with the line, without rendering.
import { useEffect, useRef } from 'react'
import { seriesOf } from '../../base/run.ts'
import { uiStore } from '../../base/store.ts'
import type { Line } from '../chart_lines.ts'
import { placeLabels } from './place_labels.ts'
import { smoothed } from './smooth.ts'
import { stepPixel, toPixel, type View } from './view.ts'

const HEIGHT = 13
/** Pixels behind the end of a line that a label needs. */
const ROOM = 92
const ABOVE = 9

/** Where a line ends in the view; undefined where it has no point there. */
function endOf({ metric }: Line, view: View): { x: number; y: number } | undefined {
  const columns = seriesOf(metric)
  if (!columns) return undefined
  const { steps, values, length } = smoothed(columns, uiStore.getState().smoothing)
  let at = length - 1
  while (at >= 0 && (steps[at] > view.x[1] || !Number.isFinite(values[at]))) at--
  if (at < 0 || steps[at] < view.x[0]) return undefined
  const y = view.height - toPixel(values[at], view.y, view.height, view.log_y)
  return Number.isFinite(y) ? { x: stepPixel(steps[at], view), y } : undefined
}

export function LineLabels({
  lines,
  view,
}: {
  readonly lines: readonly Line[]
  readonly view: View
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = () => {
      const labels = [...(list.current?.children ?? [])] as HTMLElement[]
      const ends = lines.map((line) => endOf(line, view))
      const isBefore = (x: number) => x > view.width - ROOM
      const tops = placeLabels(
        // A label before the end lies above its line, not on it.
        ends.map((end) => (end && isBefore(end.x) ? end.y - ABOVE : end?.y)),
        HEIGHT,
        view.height,
      )
      labels.forEach((label, i) => {
        const [end, top] = [ends[i], tops[i]]
        label.hidden = end === undefined || top === undefined
        if (end === undefined || top === undefined) return
        // Behind the end while there is room, else before it.
        const is_before = isBefore(end.x)
        label.style.transform = `translate(${Math.round(end.x + (is_before ? -4 : 5))}px, ${Math.round(top)}px)${is_before ? ' translateX(-100%)' : ''}`
      })
    }
    place()
    return uiStore.subscribe((now, before) => {
      if (now.frame !== before.frame || now.smoothing !== before.smoothing) place()
    })
  }, [lines, view])
  return (
    <div ref={list} className="line-labels" aria-hidden="true">
      {lines.map(({ metric, label, color }) => (
        <span
          key={metric}
          style={{ color: color.startsWith('--') ? `var(${color})` : color }}
          hidden
        >
          {label}
        </span>
      ))}
    </div>
  )
}
