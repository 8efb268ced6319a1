// What the lines are and what they are worth: a click hides a line, “only” shows it alone.
import { type CSSProperties, useCallback } from 'react'
import { useStore } from 'zustand'
import { overlayKey, useOverlays } from '../overlays.ts'
import { toggleLine, type UiState, uiStore } from '../store.ts'
import type { Line } from './chart_lines.ts'
import { useLiveText } from './live_text.ts'
import { readStep, valueAt } from './readout.ts'

type FormatValue = (value: number | undefined) => string

const selectHidden = (state: UiState) => state.hidden_lines
const selectSmoothing = (state: UiState) => state.smoothing

const cssColor = (color: string): string => (color.startsWith('--') ? `var(${color})` : color)

function Swatch(props: { color: string; width: number; dash: readonly number[] }) {
  return (
    <svg width="22" height="8" aria-hidden="true">
      <line
        x1="1"
        x2="21"
        y1="4"
        y2="4"
        stroke={cssColor(props.color)}
        strokeWidth={props.width + 0.5}
        strokeDasharray={props.dash.join(' ')}
      />
    </svg>
  )
}

/** Measured, and smoothed behind a ~ where that is on. */
function LineValue({ metric, formatValue }: { metric: string; formatValue: FormatValue }) {
  const smoothing = useStore(uiStore, selectSmoothing)
  const raw = useLiveText<HTMLElement>(
    useCallback(() => formatValue(valueAt(metric, readStep())), [metric, formatValue]),
  )
  const smooth = useLiveText<HTMLElement>(
    useCallback(
      () => (smoothing > 0 ? `~${formatValue(valueAt(metric, readStep(), smoothing))}` : ''),
      [metric, formatValue, smoothing],
    ),
  )
  return (
    <>
      {smoothing > 0 ? <b ref={smooth} title="Smoothed" /> : null}
      <b ref={raw} className={smoothing > 0 ? 'raw' : ''} />
    </>
  )
}

interface EntryProps {
  readonly name: string
  readonly all: readonly string[]
  readonly label: string
  readonly help: string
  readonly swatch: Parameters<typeof Swatch>[0]
  readonly value?: { readonly metric: string; readonly formatValue: FormatValue }
}

function Entry({ name, all, label, help, swatch, value }: EntryProps) {
  const is_shown = !useStore(uiStore, selectHidden).has(name)
  return (
    <li>
      <button
        type="button"
        aria-pressed={is_shown}
        title={`${help}. Click hides or shows it; Shift or double click shows it alone.`}
        onClick={(event) => toggleLine(name, all, event.shiftKey)}
        onDoubleClick={() => toggleLine(name, all, true)}
      >
        <Swatch {...swatch} />
        <span>{label}</span>
        {value ? <LineValue {...value} /> : null}
      </button>
      {all.length > 1 ? (
        <button
          type="button"
          className="only"
          aria-label={`${label} alone, or all again`}
          onClick={() => toggleLine(name, all, true)}
        >
          only
        </button>
      ) : null}
    </li>
  )
}

export function Legend(props: { lines: readonly Line[]; formatValue: FormatValue }) {
  const { lines, formatValue } = props
  const overlays = useOverlays()
  const all = lines.map((line) => line.metric)
  // As wide as the longest value, so that nothing moves while values change.
  const style = { '--digits': '3.4em' } as CSSProperties
  return (
    <ul className="legend" style={style}>
      {lines.map(({ metric, label, help, color, width = 1.5, dash = [] }) => (
        <Entry
          key={metric}
          name={metric}
          all={all}
          label={label}
          help={help ?? label}
          swatch={{ color, width, dash }}
          value={{ metric, formatValue }}
        />
      ))}
      {overlays.map(({ id, label, color, dash }) => (
        <Entry
          key={overlayKey(id)}
          name={overlayKey(id)}
          all={[overlayKey(id)]}
          label={label}
          help={`${label}: another run, on every chart`}
          swatch={{ color, width: 1.25, dash }}
        />
      ))}
    </ul>
  )
}
