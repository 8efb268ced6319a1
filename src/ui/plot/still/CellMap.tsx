// Draws a map of rows and columns, a cell each with its number; the pointer chooses a cell.
import { cutText } from '../../../formats/cut_text.ts'
import { pointing } from '../../kit/input/pointing.ts'
import { t } from '../../kit/translator.ts'
import { useSize } from '../base/plot_hooks.ts'
import './still.css'

export interface Cell {
  readonly text: string
  /** empty: nobody measured. Less and more are the two sides of a scale around 0. */
  readonly tone: 'empty' | 'known' | 'less' | 'more'
  /** How strong its colour is, 0…1. */
  readonly share: number
}

export interface CellPlace {
  readonly row: number
  readonly column: number
}

interface CellMapProps {
  readonly columns: readonly string[]
  readonly rows: readonly string[]
  /** By row, then by column. */
  readonly cells: readonly (readonly Cell[])[]
  readonly at: CellPlace | undefined
  readonly onMove: (at: CellPlace | undefined) => void
}

const LEFT = 110
const HEAD = 24
const HIGH = 34
/** So few columns fill a card. */
const WIDEST = 200
/** Then the map is scrolled: its heads or numbers would lie on each other. */
const NARROWEST = { least: 46, most: 84, letter: 7 }
const LETTERS = 14
/** From which shares on black reads better than white on a cell in the dark theme, and white better
 * than black in the light one. */
const TURNS = { empty: [2, 2], known: [0.43, 0.7], less: [0.78, 0.98], more: [0.74, 0.95] } as const

/** The class of a cell's text: black or white, by the lightness of its cell in each theme. */
export function inkClass({ tone, share }: Pick<Cell, 'tone' | 'share'>): string {
  const [dark, light] = TURNS[tone]
  if (share >= light) return 'on-full'
  return share >= dark ? 'on-middling' : 'on-faint'
}

/** The opacity of a cell's colour. */
export const cellOpacity = ({ tone, share }: Pick<Cell, 'tone' | 'share'>): number =>
  tone === 'empty' ? 1 : 0.06 + 0.94 * share

/** The cell under a pointer; undefined between them. */
function placeOf(target: EventTarget): CellPlace | undefined {
  const cell = (target as Element).closest<SVGElement>('[data-row]')
  return cell ? { row: Number(cell.dataset.row), column: Number(cell.dataset.column) } : undefined
}

function Row(props: CellMapProps & { readonly row: number; readonly wide: number }) {
  const { rows, columns, cells, row, wide, at } = props
  return (
    <g transform={`translate(0 ${HEAD + row * HIGH})`}>
      <text x={LEFT - 8} y={HIGH / 2 + 3} textAnchor="end">
        {cutText(t(rows[row]), LETTERS)}
      </text>
      {cells[row].map(({ text, tone, share }, column) => (
        <g key={columns[column]} data-row={row} data-column={column}>
          <rect
            className={tone}
            x={LEFT + column * wide}
            width={wide - 2}
            height={HIGH - 2}
            fillOpacity={cellOpacity({ tone, share })}
            strokeWidth={at?.row === row && at.column === column ? 2 : 0}
          />
          <text
            className={inkClass({ tone, share })}
            x={LEFT + (column + 0.5) * wide - 1}
            y={HIGH / 2 + 3}
            textAnchor="middle"
          >
            {text}
          </text>
        </g>
      ))}
    </g>
  )
}

export function CellMap(props: CellMapProps) {
  const { columns, rows, onMove } = props
  const { ref, size } = useSize()
  const { least, most, letter } = NARROWEST
  const longest = Math.max(...columns.map(({ length }) => length))
  const narrowest = Math.min(most, Math.max(least, letter * longest))
  const wide = Math.max(narrowest, Math.min(WIDEST, (size.width - LEFT) / columns.length))
  return (
    <div ref={ref} className="svg-chart-place" tabIndex={0} role="group" aria-label="Map">
      {size.width > 0 ? (
        <svg
          className="cell-map"
          aria-hidden="true"
          width={LEFT + columns.length * wide}
          height={HEAD + rows.length * HIGH}
          {...pointing(
            ({ target }) => onMove(placeOf(target)),
            () => onMove(undefined),
          )}
        >
          {columns.map((text, column) => (
            <text key={text} x={LEFT + (column + 0.5) * wide} y={HEAD - 8} textAnchor="middle">
              {cutText(t(text), LETTERS)}
            </text>
          ))}
          {rows.map((name, row) => (
            <Row key={name} {...props} row={row} wide={wide} />
          ))}
        </svg>
      ) : null}
    </div>
  )
}
