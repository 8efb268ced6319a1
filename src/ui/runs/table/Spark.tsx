// Draws the number of a row over the run's steps: in its colour while charts draw the run.
import { useEffect, useRef, useState } from 'react'
import { libraryStore, type RunEntry } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { isLive, runColor } from '../../../record/run/record.ts'
import { spread } from '../../plot/files/chart_file.ts'
import { cssColor } from '../../scales/css_colors.ts'
import { useVisible } from '../../shown/visible.ts'
import { columnsOfPast } from '../base/all_runs.ts'
import { isMain, isShare, metricOf } from '../base/columns.ts'

const [WIDTH, HEIGHT] = [72, 24]
/** More cannot be seen. */
const POINTS = 48
/** Pixels from the screen at which a line is read. */
const NEAR = 300

type Points = readonly (readonly [step: number, value: number])[]

/** What was read of a record that no longer grows. */
const read = new Map<string, Promise<Points>>()

async function pointsOf({ id, header }: RunEntry, metric: string): Promise<Points> {
  const isLiving = id === libraryStore.getState().living
  const columns = isLiving ? labStore.getState().series : await columnsOfPast(id)
  const series = columns.get(metric)
  if (!series) return []
  const last = Math.max(1, header.step)
  return spread(series.length, POINTS).map((i) => [series.steps[i] / last, series.values[i]])
}

/** Of the values from `low` to `high`; what is not finite leaves a gap. */
export function sparkPath(points: Points, low: number, high: number): string {
  let isJoined = false
  return points
    .map(([at, value]) => {
      const to = isJoined ? 'L' : 'M'
      isJoined = Number.isFinite(value)
      if (!isJoined) return ''
      const y = HEIGHT - 3 - ((value - low) / (high - low || 1)) * (HEIGHT - 6)
      return `${to}${(2 + at * (WIDTH - 4)).toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}

function pointsOnce(entry: RunEntry, metric: string): Promise<Points> {
  if (isLive(entry.header.status)) return pointsOf(entry, metric)
  const key = `${entry.id} ${entry.header.step} ${metric}`
  const known = read.get(key) ?? pointsOf(entry, metric).catch(() => [])
  read.set(key, known)
  return known
}

/** What is chosen; of a log without that, its reward. */
function drawnMetric(entry: RunEntry, choice: string): string {
  const metric = metricOf(entry, choice)
  const { source, summaries } = entry.header
  const isHeldOut = isMain(choice) || choice === 'sampled'
  return source && isHeldOut && !(metric in summaries) ? metricOf(entry, 'score') : metric
}

interface SparkProps {
  readonly entry: RunEntry
  /** An index of RUN_COLORS. */
  readonly color: number | undefined
  readonly choice: string
}

export function Spark({ entry, color, choice }: SparkProps) {
  const ref = useRef<SVGSVGElement>(null)
  const isNear = useVisible(ref, NEAR)
  const [points, setPoints] = useState<Points>([])
  const metric = drawnMetric(entry, choice)
  const { step } = entry.header
  // biome-ignore lint/correctness/useExhaustiveDependencies: an entry is another object at every change; its step says that it grew.
  useEffect(() => {
    if (!isNear) return
    let isOver = false
    void pointsOnce(entry, metric).then((found) => {
      if (!isOver) setPoints(found)
    })
    return () => {
      isOver = true
    }
  }, [isNear, entry.id, step, metric])
  const values = points.map(([, value]) => value).filter(Number.isFinite)
  const [low, high] = isShare(choice, [entry]) ? [0, 1] : [Math.min(...values), Math.max(...values)]
  return (
    <svg ref={ref} className="spark" width={WIDTH} height={HEIGHT} aria-hidden="true">
      {values.length > 1 ? (
        <path
          d={sparkPath(points, low, high)}
          fill="none"
          stroke={cssColor(color === undefined ? '--soft' : runColor(color).color)}
          strokeWidth="1.5"
          strokeLinejoin="round"
        />
      ) : null}
    </svg>
  )
}
