// The frame of a figure: title, what it shows and how it misleads, which step, what it costs, and its numbers as a table.
import { Maximize2 } from 'lucide-react'
import { type ReactNode, type SyntheticEvent, useState } from 'react'
import { Words } from '../../glossary/Words.tsx'
import { FullScreen, LeaveButton } from '../../plot/ChartCard.tsx'
import { FigureFiles } from './FigureFiles.tsx'
import type { NumberTable } from './figure_table.ts'
import type { FigureState } from './use_figure.ts'

export interface FigureProps {
  readonly id: string
  readonly title: string
  /** What it shows and how it misleads. */
  readonly note: string
  readonly state: FigureState
  /** Choices that the figure offers. */
  readonly controls?: ReactNode
  readonly children: ReactNode
}

/** A fold. What is folded away or out of view is not measured. */
export function Figure(props: FigureProps) {
  const { id, title, state } = props
  const { ref, seen } = state
  // Height of the place that it leaves while it fills the screen, so that the page behind stays where it is.
  const [left_height, setLeftHeight] = useState<number>()
  const leave = () => setLeftHeight(undefined)
  return (
    <details className="card figure" open data-testid={id} data-step={seen?.step}>
      <summary>
        <h2>{title}</h2>
      </summary>
      <div ref={ref} className="figure-place" style={{ minHeight: left_height }}>
        {left_height === undefined ? (
          <Body {...props} onFull={() => setLeftHeight(ref.current?.offsetHeight ?? 0)} />
        ) : (
          <FullScreen title={title} className="full-figure" onClose={leave}>
            <div className="full-head">
              <h2>{title}</h2>
              <LeaveButton onClick={leave} />
            </div>
            <Body {...props} />
          </FullScreen>
        )}
      </div>
    </details>
  )
}

function Body(props: FigureProps & { readonly onFull?: () => void }) {
  const { id, title, note, controls, children, onFull } = props
  const { words, whose, is_empty, cost } = props.state
  return (
    <div className="figure-body">
      <p className="soft">
        <Words text={note} />
      </p>
      <div className="figure-head">
        <p
          className={is_empty ? 'figure-step is-empty' : 'figure-step'}
          title={cost && `Measuring it took ${cost}`}
          data-testid={`${id}-step`}
        >
          {words}
          {whose === undefined ? null : <span className="soft"> {whose}</span>}
        </p>
        {controls}
        {is_empty || !onFull ? null : (
          <button
            type="button"
            className="plain"
            data-testid={`${id}-full-screen`}
            aria-label={`“${title}” in full screen`}
            title="Full screen"
            onClick={onFull}
          >
            <Maximize2 className="icon" aria-hidden="true" />
          </button>
        )}
      </div>
      {children}
    </div>
  )
}

/** The numbers behind a picture, made only while they are unfolded, and the figure as files. */
export function NumbersTable({
  id,
  caption,
  table,
}: {
  id: string
  caption: string
  table: () => NumberTable
}) {
  const [is_open, setOpen] = useState(false)
  return (
    <div className="figure-foot">
      <details
        className="figure-numbers"
        data-testid={id}
        onToggle={(event: SyntheticEvent<HTMLDetailsElement>) => setOpen(event.currentTarget.open)}
      >
        <summary>Numbers</summary>
        {is_open ? <Table caption={caption} {...table()} /> : null}
      </details>
      <FigureFiles id={id} caption={caption} table={table} />
    </div>
  )
}

function Table({ caption, columns, rows }: NumberTable & { caption: string }) {
  return (
    <div className="figure-table" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...values]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {values.map((value, i) => (
                <td key={columns[i + 1]}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export interface Key {
  readonly label: string
  readonly color: string
  readonly dash?: string
}

/** What the colours mean. */
export function Keys({ keys }: { keys: readonly Key[] }) {
  return (
    <ul className="figure-keys">
      {keys.map(({ label, color, dash }) => (
        <li key={label}>
          <svg width="18" height="8" aria-hidden="true">
            <line
              x1="1"
              x2="17"
              y1="4"
              y2="4"
              style={{ stroke: color }}
              strokeWidth="2.5"
              strokeDasharray={dash}
            />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  )
}
