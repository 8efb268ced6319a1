// Draws the numbers of one response: a row for every token, or a column.

import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef } from 'react'
import { noiseOf } from '../../../document/formulas/advantage_noise.ts'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { type Column, cellText, exactText, headText } from '../base/columns.ts'
import { Token } from '../base/Token.tsx'
import type { CellPlace } from '../base/view.ts'
import type { StageIndex } from './SlowMotion.tsx'
import { whyMissing } from './why_missing.ts'

/** How a stage is seen from another one. */
export function tense(stage: number, now: StageIndex): 'now' | 'later' | '' {
  if (now === undefined || stage < now) return ''
  return stage === now ? 'now' : 'later'
}

const MOVES: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, Number.NEGATIVE_INFINITY],
  End: [0, Number.POSITIVE_INFINITY],
}

export const within = (value: number, length: number) => Math.max(0, Math.min(length - 1, value))

interface TokenGridProps {
  readonly table: TokenTable
  readonly sample: TracedSample
  readonly columns: readonly Column[]
  readonly place: CellPlace
  readonly stage: StageIndex
  readonly isTurned: boolean
  readonly onPlace: (place: CellPlace) => void
}

type Scope = 'row' | 'col'

function ColumnHead(props: { column: Column; stage: StageIndex; scope: Scope }) {
  const { column, stage, scope } = props
  return (
    <th scope={scope} className={tense(column.stage, stage)} title={column.help}>
      {headText(column)}
    </th>
  )
}

function TokenHead(props: { token: string; isChosen: boolean; stage: StageIndex; scope: Scope }) {
  const { token, isChosen, stage, scope } = props
  return (
    <th scope={scope} className={`token ${tense(0, stage)} ${isChosen ? 'chosen' : ''}`}>
      <Token token={token} />
    </th>
  )
}

/** One number; the chosen one can be reached by Tab. */
function Cell(props: TokenGridProps & { readonly at: CellPlace }) {
  const { table, sample, columns, place, stage, at, onPlace } = props
  const { t, column } = at
  const { name, stage: own } = columns[column]
  const isHere = t === place.t && column === place.column
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the table answers the keys of all its cells.
    <td
      data-cell={`${t}/${column}`}
      data-column={name}
      className={`${tense(own, stage)} ${t === place.t ? 'chosen' : ''}`}
      tabIndex={isHere ? 0 : -1}
      title={exactText(sample, name, t) ?? whyMissing(table, sample, name, t)}
      onFocus={() => onPlace(at)}
      onClick={() => onPlace(at)}
    >
      {cellText(sample, name, t, noiseOf(table.samples))}
    </td>
  )
}

/** Pixels beside the heads in which what is behind them fades (stages.css). */
const FADE = 18

/** How far a view must be scrolled for what reaches from `left` to `right` of its content to be in
 * sight beside the heads that stay at its left: no further than needed. */
export function scrolledTo(
  view: { readonly at: number; readonly width: number; readonly heads: number },
  left: number,
  right: number,
): number {
  const atLeast = right - view.width
  const atMost = left - view.heads
  return Math.min(Math.max(view.at, atLeast), atMost)
}

/** Brings the columns of a stage into view; the page itself stays where it is. */
function useInView(grid: RefObject<HTMLTableElement | null>, stage: StageIndex): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a stage marks its columns.
  useLayoutEffect(() => {
    const view = grid.current?.parentElement
    const marked = grid.current?.querySelectorAll<HTMLElement>('thead .now:not(.token)') ?? []
    const [first, last] = [marked[0], marked[marked.length - 1]]
    const heads = (grid.current?.querySelector<HTMLElement>('thead th')?.offsetWidth ?? 0) + FADE
    if (!view || !first || !last) return
    const seen = { at: view.scrollLeft, width: view.clientWidth, heads }
    view.scrollLeft = scrolledTo(seen, first.offsetLeft, last.offsetLeft + last.offsetWidth)
  }, [grid, stage])
}

/** Tokens as rows; where there is little width, as columns. Arrow keys go from cell to cell. */
export function TokenGrid(props: TokenGridProps) {
  const { sample, columns, place, stage, isTurned, onPlace } = props
  const grid = useRef<HTMLTableElement>(null)
  const { tokens } = sample
  useInView(grid, stage)
  const move = (event: KeyboardEvent) => {
    const step = MOVES[event.key]
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const [t, column] = isTurned ? [step[1], step[0]] : step
    const next = {
      t: within(place.t + t, tokens.length),
      column: within(place.column + column, columns.length),
    }
    onPlace(next)
    grid.current?.querySelector<HTMLElement>(`[data-cell="${next.t}/${next.column}"]`)?.focus()
  }
  const columnHead = (c: number, scope: 'row' | 'col') => (
    <ColumnHead key={columns[c].name} column={columns[c]} stage={stage} scope={scope} />
  )
  const tokenHead = (t: number, scope: 'row' | 'col') => (
    <TokenHead key={t} token={tokens[t]} isChosen={t === place.t} stage={stage} scope={scope} />
  )
  const cell = (t: number, c: number) => (
    <Cell key={`${t}/${columns[c].name}`} {...props} at={{ t, column: c }} />
  )
  const ts = tokens.map((_, t) => t)
  const cs = columns.map((_, c) => c)
  return (
    <table
      ref={grid}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid, whose cells are reached by arrow keys.
      role="grid"
      className="stages-table"
      onKeyDown={move}
      data-testid="token-table"
    >
      <thead>
        <tr>
          <th scope="col">{isTurned ? 'number' : 'token'}</th>
          {isTurned ? ts.map((t) => tokenHead(t, 'col')) : cs.map((c) => columnHead(c, 'col'))}
        </tr>
      </thead>
      <tbody>
        {isTurned
          ? cs.map((c) => (
              <tr key={columns[c].name}>
                {columnHead(c, 'row')}
                {ts.map((t) => cell(t, c))}
              </tr>
            ))
          : ts.map((t) => (
              <tr key={t}>
                {tokenHead(t, 'row')}
                {cs.map((c) => cell(t, c))}
              </tr>
            ))}
      </tbody>
    </table>
  )
}
