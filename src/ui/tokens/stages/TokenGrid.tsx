// The numbers of one response: a row for every token, or a column.
import { type KeyboardEvent, useRef } from 'react'
import type { TokenTable, TracedSample } from '../../../lab/protocol/results.ts'
import type { StageIndex } from './SlowMotion.tsx'
import { type Column, cellText, exactText, tokenText } from './stages.ts'
import { whyMissing } from './why_missing.ts'

/** How a stage is seen from another one. */
export function tense(stage: number, now: StageIndex): 'now' | 'later' | '' {
  if (now === undefined || stage < now) return ''
  return stage === now ? 'now' : 'later'
}

export interface Place {
  readonly t: number
  readonly column: number
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

/** Tokens as rows; where there is little width, as columns. Arrow keys go from cell to cell. */
export function TokenGrid(props: {
  table: TokenTable
  sample: TracedSample
  columns: readonly Column[]
  place: Place
  stage: StageIndex
  is_turned: boolean
  onPlace: (place: Place) => void
}) {
  const { sample, columns, place, stage, is_turned, onPlace } = props
  const grid = useRef<HTMLTableElement>(null)
  const { tokens } = sample
  const move = (event: KeyboardEvent) => {
    const step = MOVES[event.key]
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const [t, column] = is_turned ? [step[1], step[0]] : step
    const next = {
      t: within(place.t + t, tokens.length),
      column: within(place.column + column, columns.length),
    }
    onPlace(next)
    grid.current?.querySelector<HTMLElement>(`[data-cell="${next.t}/${next.column}"]`)?.focus()
  }
  const cell = (t: number, c: number) => {
    const { name, stage: own } = columns[c]
    const is_here = t === place.t && c === place.column
    return (
      <td
        key={`${t}/${name}`}
        data-cell={`${t}/${c}`}
        data-column={name}
        className={`${tense(own, stage)} ${t === place.t ? 'chosen' : ''}`}
        tabIndex={is_here ? 0 : -1}
        title={exactText(sample, name, t) ?? whyMissing(props.table, sample, name, t)}
        onFocus={() => onPlace({ t, column: c })}
        onClick={() => onPlace({ t, column: c })}
      >
        {cellText(sample, name, t)}
      </td>
    )
  }
  const columnHead = (c: number, scope: 'row' | 'col') => (
    <th
      key={columns[c].name}
      scope={scope}
      className={tense(columns[c].stage, stage)}
      title={columns[c].help}
    >
      {columns[c].label}
    </th>
  )
  const tokenHead = (t: number, scope: 'row' | 'col') => (
    <th
      key={t}
      scope={scope}
      className={`token ${tense(0, stage)} ${t === place.t ? 'chosen' : ''}`}
    >
      <span className="response">{tokenText(tokens[t])}</span>
    </th>
  )
  const ts = tokens.map((_, t) => t)
  const cs = columns.map((_, c) => c)
  return (
    // A grid: its cells are reached by arrow keys.
    <table
      ref={grid}
      role="grid"
      className="stages-table"
      onKeyDown={move}
      data-testid="token-table"
    >
      <thead>
        <tr>
          <th scope="col">{is_turned ? '' : 'token'}</th>
          {is_turned ? ts.map((t) => tokenHead(t, 'col')) : cs.map((c) => columnHead(c, 'col'))}
        </tr>
      </thead>
      <tbody>
        {is_turned
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
