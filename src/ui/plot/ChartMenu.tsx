// What can be done with one chart: its axes, a larger view, files.
import { Ellipsis } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, type RefObject, useRef } from 'react'
import { useStore } from 'zustand'
import { runFileStem } from '../../record/files/file_names.ts'
import { saveFile } from '../kit/save.ts'
import { shownRunWords } from '../open/shown_run.ts'
import type { Domain } from '../scales/domain.ts'
import { shownExperiment } from '../shown/run.ts'
import { shownStore } from '../shown/shown.ts'
import { showToast, toggleLog, type UiState, uiStore } from '../shown/store.ts'
import { chartCsv, chartJsonl, type NamedColumns } from './files/chart_file.ts'
import { chartPng, chartSvg, type PictureContent } from './files/picture.ts'
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

const KINDS = ['csv', 'jsonl', 'png', 'svg'] as const
type Kind = (typeof KINDS)[number]

async function fileOf(kind: Kind, props: ChartMenuProps): Promise<Blob | undefined> {
  const { columns, x, handle, picture, strokes } = props
  if (kind === 'csv') return new Blob([chartCsv(columns(), x)], { type: 'text/csv' })
  if (kind === 'jsonl') return new Blob([chartJsonl(columns(), x)], { type: 'application/jsonl' })
  if (!handle.current) return undefined
  const content = { ...picture(), run: shownRunWords() }
  if (kind === 'png') return chartPng(handle.current, content)
  return chartSvg(handle.current, content, strokes?.())
}

async function save(kind: Kind, props: ChartMenuProps): Promise<void> {
  try {
    const blob = await fileOf(kind, props)
    const stem = runFileStem(shownExperiment(shownStore.getState()))
    if (blob) saveFile(`${stem}.${props.file}.${kind}`, blob)
  } catch (error) {
    showToast(`The picture could not be made: ${error instanceof Error ? error.message : error}`)
  }
}

const SAYS: Readonly<Record<Kind, string>> = {
  csv: 'The shown lines and steps as a table, smoothed values beside measured ones',
  jsonl: 'The shown lines and steps, a line per step',
  png: 'A picture in pixels',
  svg: 'A picture in lines, for papers and slides',
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

function Files({ id, onSave }: { id: string; onSave: (kind: Kind) => void }) {
  return (
    <div className="chart-files" role="group" aria-label="Save as">
      {KINDS.map((kind) => (
        <button
          key={kind}
          type="button"
          data-testid={`${id}-${kind}`}
          title={SAYS[kind]}
          onClick={() => onSave(kind)}
        >
          {kind.toUpperCase()}
        </button>
      ))}
    </div>
  )
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
        <Files
          id={id}
          onSave={(kind) => {
            close()
            void save(kind, props)
          }}
        />
      </div>
    </details>
  )
}
