// Shows the menu of one chart: its axes, a larger view, files.
import type { RefObject } from 'react'
import { useStore } from 'zustand'
import { shownRunWords } from '../open/shown_run.ts'
import type { Domain } from '../scales/domain.ts'
import { toggleLog, type UiState, uiStore } from '../shown/store.ts'
import type { PlotHandle } from './base/Plot.tsx'
import { chartCsv, chartJsonl, type NamedColumns } from './files/chart_file.ts'
import { chartPng, chartSvg, type PictureContent } from './files/picture.ts'
import { type Makers, SaveAs } from './files/SaveAs.tsx'
import type { Stroke } from './lines/strokes.ts'
import { FullScreenChoice, Menu } from './Menu.tsx'

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
  readonly hasLog: boolean
  readonly columns: () => readonly NamedColumns[]
  readonly picture: () => Omit<PictureContent, 'run'>
  /** Undefined for a chart that has no lines. */
  readonly strokes: (() => readonly Stroke[]) | undefined
  readonly isFull: boolean
  readonly onFull?: (() => void) | undefined
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

const selectLogY = (state: UiState) => state.logY
const selectLogX = (state: UiState) => state.logX

function Scales({ id, chart }: { id: string; chart: string }) {
  const axes = [
    { axis: 'logY', label: 'Logarithmic values', set: useStore(uiStore, selectLogY) },
    { axis: 'logX', label: 'Logarithmic steps', set: useStore(uiStore, selectLogX) },
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
  const { id, title, hasLog } = props
  return (
    <Menu id={id} label={`Axes, full screen and files of “${title}”`}>
      {(close) => (
        <>
          {hasLog ? <Scales id={id} chart={props.chart} /> : null}
          <FullScreenChoice {...props} close={close} />
          <SaveAs id={id} what={title} file={props.file} make={makersOf(props)} onSave={close} />
        </>
      )}
    </Menu>
  )
}
