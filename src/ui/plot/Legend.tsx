// Names the lines of a chart and their values: a click hides a line, “show alone” hides the others.
import {
  type CSSProperties,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useStore } from 'zustand'
import { CutName } from '../kit/CutName.tsx'
import type { Columns } from '../scales/columns.ts'
import { type Overlay, overlayKey, useOverlays } from '../shown/overlays.ts'
import { keepWritten } from '../shown/readout.ts'
import { seriesOf } from '../shown/run.ts'
import { toggleLine, type UiState, uiStore } from '../shown/store.ts'
import { type Key, LineMark } from './base/Keys.tsx'
import {
  behindText,
  bySeries,
  lineText,
  type NumberedLine,
  overlayStyle,
  weightOf,
} from './chart_lines.ts'
import { isDotted } from './lines/gaps.ts'
import { useLiveText } from './live_text.ts'

export type FormatValue = (value: number | undefined) => string

interface ValueProps {
  /** What is read out; of several columns the one that was measured last. The same function for the
   * same columns. */
  readonly columns: () => readonly (Columns | undefined)[]
  readonly formatValue: FormatValue
  /** What its line is smoothed by at least. */
  readonly smooth: number | undefined
}

const selectHidden = (state: UiState) => state.hiddenLines

/** What was measured, and behind it what is not seen of that. */
function LineValue({ columns, formatValue, smooth: least = 0 }: ValueProps) {
  const weight = useStore(uiStore, ({ smoothing }) =>
    weightOf({ smooth: least }, smoothing, columns().find(Boolean)),
  )
  const line = useLiveText<HTMLElement>(
    useCallback(() => lineText(columns(), formatValue), [columns, formatValue]),
  )
  const behind = useLiveText<HTMLElement>(
    useCallback(() => behindText(columns(), formatValue, weight), [columns, formatValue, weight]),
  )
  return (
    <>
      <b ref={line} />
      <small
        ref={behind}
        className="soft"
        title={weight > 0 ? 'Local linear fit: where the line lies' : undefined}
      />
    </>
  )
}

interface EntryProps {
  readonly name: string
  readonly all: readonly string[]
  readonly label: string
  readonly help: string
  /** Without one it stands beside its line, in its colour. */
  readonly swatch?: Omit<Key, 'label'> | undefined
  readonly color?: string | undefined
  readonly value?: ReactNode
  /** It is another run's. */
  readonly isBehind?: boolean
}

function Entry({ name, all, label, help, swatch, color, value, isBehind }: EntryProps) {
  const isShown = !useStore(uiStore, selectHidden).has(name)
  return (
    <li style={{ color }}>
      <button
        type="button"
        aria-pressed={isShown}
        title={`${help}. Click hides or shows it; Shift or double click shows it alone.`}
        onClick={(event) => toggleLine(name, all, event.shiftKey)}
        onDoubleClick={() => toggleLine(name, all, true)}
      >
        {swatch && <LineMark {...swatch} />}
        {isBehind ? <span className="soft">behind:</span> : null}
        <CutName name={label} />
        {value}
      </button>
      {swatch && all.length > 1 ? (
        <button
          type="button"
          className="only"
          aria-label={`${label}: show alone, or all again`}
          onClick={() => toggleLine(name, all, true)}
        >
          show alone
        </button>
      ) : null}
    </li>
  )
}

/** A line of the shown run; with a `color`, beside its end. */
export function LineEntry(props: {
  readonly line: NumberedLine
  readonly all: readonly NumberedLine[]
  readonly color?: string
  readonly formatValue: FormatValue
}) {
  const { line, all, color, formatValue } = props
  const { metric, label, smooth, help = label, isOff } = line
  const columns = useCallback(() => [seriesOf(metric)], [metric])
  return (
    <Entry
      name={metric}
      all={all.map((one) => one.metric)}
      label={(color && line.short) ?? label}
      help={help}
      swatch={
        color ? undefined : { ...line, isDots: line.hasGaps === true && isDotted(seriesOf(metric)) }
      }
      color={color}
      value={
        <>
          {isOff ? '↑' : null}
          <LineValue {...{ columns, formatValue, smooth }} />
        </>
      }
    />
  )
}

/** The value of one series of another run, behind the dash that the series has there; hidden where
 * that run has none. */
function OverlayValue(props: {
  readonly overlay: Overlay
  /** Lines of one label. */
  readonly lines: readonly NumberedLine[]
  readonly isAlone: boolean
  readonly formatValue: FormatValue
}) {
  const { overlay, lines, isAlone, formatValue } = props
  const [line] = lines
  const columns = useCallback(
    () => lines.map(({ metric }) => overlay.series(metric)),
    [lines, overlay],
  )
  const isEmpty = useCallback(() => !columns().some((own) => own && own.length > 0), [columns])
  const ref = useRef<HTMLSpanElement>(null)
  // It may come while the other run trains beside this one.
  useEffect(
    () =>
      keepWritten(() => {
        if (ref.current) ref.current.hidden = isEmpty()
      }),
    [isEmpty],
  )
  return (
    <span
      ref={ref}
      className="overlay-value"
      title={`${line.label}, ${overlay.label}`}
      hidden={isEmpty()}
    >
      {isAlone ? null : (
        <>
          <LineMark {...overlayStyle(overlay, line)} />
          <span className="soft">{line.label}</span>
        </>
      )}
      <LineValue columns={columns} formatValue={formatValue} smooth={line.smooth} />
    </span>
  )
}

interface LegendProps {
  readonly lines: readonly NumberedLine[]
  /** Those that are not hidden. */
  readonly visible: readonly NumberedLine[]
  readonly formatValue: FormatValue
}

export function Legend({ lines, visible, formatValue }: LegendProps) {
  const overlays = useOverlays()
  const series = useMemo(() => bySeries(visible), [visible])
  const isAlone = visible.every(({ behindDash }) => behindDash === undefined)
  // As wide as the longest value, so that nothing moves while values change.
  const style = { '--digits': '3.4em' } as CSSProperties
  return (
    <ul className="legend" style={style}>
      {lines.map((line) => (
        <LineEntry key={line.metric} line={line} all={lines} formatValue={formatValue} />
      ))}
      {/* Whose the other lines are is said beside those of this run. */}
      {lines.length === 0 && isAlone && visible[0] ? (
        <li className="own">
          <LineMark {...visible[0]} /> this run
        </li>
      ) : null}
      {overlays.map((overlay) => (
        <OverlayEntry
          key={overlayKey(overlay.id)}
          {...{ overlay, lines, visible, series, isAlone, formatValue }}
        />
      ))}
    </ul>
  )
}

/** Another run; nothing where it has no line on this chart, as where a link brought few curves. */
function OverlayEntry(
  props: LegendProps & {
    readonly overlay: Overlay
    readonly series: readonly (readonly NumberedLine[])[]
    readonly isAlone: boolean
  },
) {
  const { overlay, lines, visible, series, isAlone, formatValue } = props
  const find = useCallback(
    () => [...lines, ...visible].some(({ metric }) => (overlay.series(metric)?.length ?? 0) > 0),
    [overlay, lines, visible],
  )
  const [hasLine, setHasLine] = useState(find)
  // It may come while the other run trains beside this one.
  useEffect(() => keepWritten(() => setHasLine(find())), [find])
  if (!hasLine) return null
  return (
    <Entry
      name={overlayKey(overlay.id)}
      all={[overlayKey(overlay.id)]}
      label={overlay.label}
      help={`${overlay.label}: another run, on every chart`}
      isBehind
      swatch={{ color: overlay.color, width: 2.5, dash: isAlone ? overlay.dash : [] }}
      value={series.map((own) => (
        <OverlayValue
          key={own[0].label}
          overlay={overlay}
          lines={own}
          isAlone={isAlone}
          formatValue={formatValue}
        />
      ))}
    />
  )
}
