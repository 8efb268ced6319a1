// Draws the frame of every chart around its plot: title, menu, numbers as a table, and a full
// screen.
import { X } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { Words } from '../glossary/Words.tsx'
import { showModal } from '../part/show_modal.ts'
import type { View } from '../scales/view.ts'
import { useStepScale } from '../shown/run.ts'
import { type UiState, uiStore } from '../shown/store.ts'
import type { PlotHandle } from './base/Plot.tsx'
import { ChartMenu, type ChartMenuProps } from './ChartMenu.tsx'
import { stepTable } from './files/chart_file.ts'
import { NumbersTable } from './files/NumbersTable.tsx'
import type { Stroke } from './lines/strokes.ts'
import { useLiveText } from './live_text.ts'
import { leaveFullScreen } from './Menu.tsx'

export interface PlotPlace {
  readonly id: string
  readonly handle: RefObject<PlotHandle | null>
}

export interface ChartCardProps
  extends Pick<ChartMenuProps, 'id' | 'title' | 'file' | 'x' | 'hasLog' | 'columns' | 'picture'> {
  readonly note?: string | undefined
  /** What it shows of this run, in a sentence; '' for nothing. */
  readonly says?: (() => string) | undefined
  readonly compact?: boolean
  /** One of several in a figure: no card of its own, and a title below the figure's. */
  readonly isPart?: boolean
  /** Beside the title, or below it where both have no room in a line. */
  readonly value?: ReactNode
  /** What an axis does not show, in words; '' for nothing. */
  readonly leftOut?: string
  readonly strokes?: (view: View) => readonly Stroke[]
  readonly formatValue: (value: number | undefined) => string
  readonly plot: (place: PlotPlace) => ReactNode
  readonly foot?: ReactNode
  readonly dataRows?: number
  readonly testid?: string
}

interface FigureProps extends ChartCardProps {
  readonly isFull: boolean
  readonly onFull?: () => void
}

const classOf = ({ isPart = false, compact = false }: ChartCardProps): string =>
  isPart ? 'step-chart chart' : compact ? 'card chart compact' : 'card chart'

function Figure(props: FigureProps) {
  const { id, title, note, isPart = false, isFull, strokes, leftOut = '' } = props
  const Title = isPart ? 'h3' : 'h2'
  const titleId = useId()
  const handle = useRef<PlotHandle | null>(null)
  const plotId = isFull ? `${id}-full` : id
  return (
    <figure
      className={classOf(props)}
      aria-labelledby={titleId}
      data-testid={(!isFull && props.testid) || `${plotId}-card`}
      data-rows={props.dataRows}
    >
      <figcaption>
        <div className="chart-head">
          <Title id={titleId}>
            <Words text={title} />
          </Title>
          {props.value}
        </div>
        <span className="chart-side">
          <ChartMenu
            {...props}
            id={plotId}
            chart={id}
            handle={handle}
            strokes={
              strokes ? () => (handle.current ? strokes(handle.current.view) : []) : undefined
            }
          />
          {isFull ? <LeaveButton /> : null}
        </span>
        {props.says ? <Says id={plotId} text={props.says} /> : null}
        {note === undefined ? null : (
          <p className="soft">
            <Words text={note} />
          </p>
        )}
      </figcaption>
      {props.plot({ id: plotId, handle })}
      {leftOut === '' ? null : (
        <p className="left-out soft" data-testid={`${plotId}-left-out`}>
          {leftOut}
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
const selectLogX = ({ logX }: UiState) => logX

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

/** A dialog that closes, and is not just taken away, gives the focus back. */
export function LeaveButton() {
  return (
    <button
      type="button"
      className="plain"
      aria-label="Leave full screen"
      onClick={leaveFullScreen}
    >
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
  useEffect(() => showModal(dialog.current), [])
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
  const [isFull, setFull] = useState(false)
  return (
    <>
      <Figure {...props} isFull={false} onFull={() => setFull(true)} />
      {isFull ? (
        <FullScreen title={props.title} className="full-chart" onClose={() => setFull(false)}>
          <Figure {...props} isFull />
        </FullScreen>
      ) : null}
    </>
  )
}
