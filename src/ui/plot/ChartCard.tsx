// Draws the frame of every chart around its plot: title, menu, numbers as a table, and a full
// screen.
import { X } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { Words } from '../glossary/Words.tsx'
import type { View } from '../scales/view.ts'
import { useStepScale } from '../shown/run.ts'
import { type UiState, uiStore } from '../shown/store.ts'
import type { PlotHandle } from './base/Plot.tsx'
import { ChartMenu, type ChartMenuProps } from './ChartMenu.tsx'
import { stepTable } from './files/chart_file.ts'
import { NumbersTable } from './files/NumbersTable.tsx'
import type { Stroke } from './lines/strokes.ts'
import { useLiveText } from './live_text.ts'

export interface PlotPlace {
  readonly id: string
  readonly handle: RefObject<PlotHandle | null>
}

export interface ChartCardProps
  extends Pick<ChartMenuProps, 'id' | 'title' | 'file' | 'x' | 'has_log' | 'columns' | 'picture'> {
  readonly note?: string
  /** What it shows of this run, in a sentence; '' for nothing. */
  readonly says?: (() => string) | undefined
  readonly compact?: boolean
  /** One of several in a figure: no card of its own, and a title below the figure's. */
  readonly is_part?: boolean
  /** Beside the title. */
  readonly value?: ReactNode
  /** What an axis does not show, in words; '' for nothing. */
  readonly left_out?: string
  readonly strokes?: (view: View) => readonly Stroke[]
  readonly formatValue: (value: number | undefined) => string
  readonly plot: (place: PlotPlace) => ReactNode
  readonly foot?: ReactNode
  readonly data_rows?: number
  readonly testid?: string
}

interface FigureProps extends ChartCardProps {
  readonly is_full: boolean
  readonly onFull: () => void
}

const classOf = ({ is_part = false, compact = false }: ChartCardProps): string =>
  is_part ? 'step-chart chart' : compact ? 'card chart compact' : 'card chart'

function Figure(props: FigureProps) {
  const { id, title, note, is_part = false, is_full, strokes, left_out = '' } = props
  const Title = is_part ? 'h3' : 'h2'
  const titleId = useId()
  const handle = useRef<PlotHandle | null>(null)
  const plotId = is_full ? `${id}-full` : id
  return (
    <figure
      className={classOf(props)}
      aria-labelledby={titleId}
      data-testid={(!is_full && props.testid) || `${plotId}-card`}
      data-rows={props.data_rows}
    >
      <figcaption>
        <Title id={titleId}>
          <Words text={title} />
        </Title>
        <span className="chart-side">
          {props.value}
          <ChartMenu
            {...props}
            id={plotId}
            chart={id}
            handle={handle}
            strokes={
              strokes ? () => (handle.current ? strokes(handle.current.view) : []) : undefined
            }
          />
          {is_full ? <LeaveButton onClick={props.onFull} /> : null}
        </span>
        {props.says ? <Says id={plotId} text={props.says} /> : null}
        {note === undefined ? null : (
          <p className="soft">
            <Words text={note} />
          </p>
        )}
      </figcaption>
      {props.plot({ id: plotId, handle })}
      {left_out === '' ? null : (
        <p className="left-out soft" data-testid={`${plotId}-left-out`}>
          {left_out}
        </p>
      )}
      <EqualPhases id={plotId} chart={id} />
      {props.foot}
      <NumbersTable
        id={`${plotId}-numbers`}
        title={title}
        table={() => stepTable(props.columns(), props.x, props.formatValue)}
      />
    </figure>
  )
}

function Says({ id, text }: { readonly id: string; readonly text: () => string }) {
  const words = useLiveText<HTMLParagraphElement>(text)
  return <p ref={words} className="chart-says" data-testid={`${id}-says`} />
}

const EQUAL_PHASES = 'Each phase has the same width: at // the scale of the steps changes.'
const selectLogX = ({ log_x }: UiState) => log_x

/** Says below a chart that its axis is not even, and what the marks on it mean. */
function EqualPhases({ id, chart }: { id: string; chart: string }) {
  const isLog = useStore(uiStore, selectLogX).has(chart)
  if (useStepScale() === undefined || isLog) return null
  return (
    <p className="left-out soft" data-testid={`${id}-equal-phases`}>
      {EQUAL_PHASES}
    </p>
  )
}

export function LeaveButton({ onClick }: { onClick: () => void }) {
  return (
    <button type="button" className="plain" aria-label="Leave full screen" onClick={onClick}>
      <X className="icon" aria-hidden="true" />
    </button>
  )
}

interface FullScreenProps {
  readonly title: string
  readonly className: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A modal dialog as large as the window. Escape leaves it. */
export function FullScreen(props: FullScreenProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog
      ref={dialog}
      className={props.className}
      aria-label={props.title}
      onClose={props.onClose}
      data-testid={props.className}
    >
      {props.children}
    </dialog>
  )
}

export function ChartCard(props: ChartCardProps) {
  const [is_full, setFull] = useState(false)
  return (
    <>
      <Figure {...props} is_full={false} onFull={() => setFull(true)} />
      {is_full ? (
        <FullScreen title={props.title} className="full-chart" onClose={() => setFull(false)}>
          <Figure {...props} is_full onFull={() => setFull(false)} />
        </FullScreen>
      ) : null}
    </>
  )
}
