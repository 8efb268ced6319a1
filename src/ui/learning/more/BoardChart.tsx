// Draws one of the further charts, with the pin that moves it to the board.
import { Pin } from 'lucide-react'
import { useStore } from 'zustand'
import { formatNumber, tickOf } from '../../kit/format.ts'
import { MetricChart } from '../../plot/MetricChart.tsx'
import { boardStore, togglePinned } from '../../shown/board.ts'
import type { MoreChart } from './chart_entry.ts'

const HEIGHT = 128
const SHARE = [0, 1] as const

interface BoardChartProps {
  readonly chart: MoreChart
  /** What the board calls it. */
  readonly name: string
  readonly height?: number
}

export function BoardChart({ chart, name, height = HEIGHT }: BoardChartProps) {
  const { id, title, note, lines, format, isShare = false, ideal } = chart
  const isPinned = useStore(boardStore, ({ pinned }) => pinned.includes(name))
  return (
    <div className={chart.isWide ? 'pinnable wide' : 'pinnable'}>
      <MetricChart
        id={`${id}-chart`}
        title={title}
        note={note}
        lines={lines}
        height={height}
        {...(isShare ? { y: SHARE } : {})}
        {...(ideal ? { ideal } : {})}
        formatY={tickOf(format)}
        formatValue={format ?? formatNumber}
        compact
        hasLegend={lines.length > 1}
      />
      <button
        type="button"
        className="plain chart-pin"
        data-testid={`pin-${name}`}
        aria-pressed={isPinned}
        title={isPinned ? 'Take it off the board' : 'Pin it to the board above, which links carry'}
        onClick={() => togglePinned(name)}
      >
        <Pin className="icon" aria-hidden="true" />
        <span className="visually-hidden">Pin “{title}”</span>
      </button>
    </div>
  )
}
