// Shows the menu of one chart: its axes, a larger view, files.
import { Ellipsis } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, type RefObject, useRef } from 'react'
import { useStore } from 'zustand'
import { shownRunWords } from '../open/shown_run.ts'
import type { Domain } from '../scales/domain.ts'
import { toggleLog, type UiState, uiStore } from '../shown/store.ts'
import { chartCsv, chartJsonl, type NamedColumns } from './files/chart_file.ts'
import { chartPng, chartSvg, type PictureContent } from './files/picture.ts'
import { type Makers, SaveAs } from './files/SaveAs.tsx'
import type { Stroke } from './lines/strokes.ts'
import type { PlotHandle } from './Plot.tsx'

export interface ChartMenuProps {
  /** Of the plot. */
  readonly id: string
  /** Of the chart, whose axes are the same in full screen. */
  readonly chart: string
  readonly title: string
  /** What its files are called behind the run's name. */
  readonly file: string
  readonly x: Domain
  readonly handle: RefObject<PlotHandle | null>
  /** Its axes can be logarithmic. */
  readonly has_log: boolean
  readonly columns: () => readonly NamedColumns[]
  readonly picture: () => Omit<PictureContent, 'run'>
  /** Undefined for a chart that has no lines. */
  readonly strokes: (() => readonly Stroke[]) | undefined
  readonly is_full: boolean
  readonly onFull: () => void
}

function makersOf(props: ChartMenuProps): Makers {
  const { columns, x, handle, picture, strokes } = props
  const content = () => ({ ...picture(), run: shownRunWords() })
  return {
    csv: () => chartCsv(columns(), x),
    jsonl: () => chartJsonl(columns(), x),
    png: () => (handle.current ? chartPng(handle.current, content()) : undefined),
    svg: () => (handle.current ? chartSvg(handle.current, content(), strokes?.()) : undefined),
  }
}

const selectLogY = (state: UiState) => state.log_y
const selectLogX = (state: UiState) => state.log_x

function Scales({ id, chart }: { id: string; chart: string }) {
  const axes = [
    { axis: 'log_y', label: 'Logarithmic values', set: useStore(uiStore, selectLogY) },
    { axis: 'log_x', label: 'Logarithmic steps', set: useStore(uiStore, selectLogX) },
  ] as const
  return axes.map(({ axis, label, set }) => (
    <label key={axis}>
      <input
        type="checkbox"
        data-testid={`${id}-${axis}`}
        checked={set.has(chart)}
        onChange={() => toggleLog(axis, chart)}
      />
      {label}
    </label>
  ))
}

export function ChartMenu(props: ChartMenuProps) {
  const { id, title, has_log, is_full, onFull } = props
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (menu.current) menu.current.open = false
  }
  const onBlur = (event: FocusEvent) => {
    const to = event.relatedTarget
    if (to instanceof Node && !event.currentTarget.contains(to)) close()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !menu.current?.open) return
    // Escape closes the menu, and not the full screen behind it.
    event.preventDefault()
    event.stopPropagation()
    close()
    menu.current.querySelector('summary')?.focus()
  }
  return (
    <details
      ref={menu}
      className="chart-menu"
      name="chart-menu"
      onBlur={onBlur}
      onKeyDown={onKeyDown}
      data-testid={`${id}-menu`}
    >
      <summary aria-label={`Axes, full screen and files of “${title}”`}>
        <Ellipsis className="icon" aria-hidden="true" />
      </summary>
      <div>
        {has_log ? <Scales id={id} chart={props.chart} /> : null}
        <button
          type="button"
          data-testid={`${id}-full-screen`}
          onClick={() => {
            close()
            onFull()
          }}
        >
          {is_full ? 'Leave full screen' : 'Full screen'}
        </button>
        <SaveAs id={id} what={title} file={props.file} make={makersOf(props)} onSave={close} />
      </div>
    </details>
  )
}
