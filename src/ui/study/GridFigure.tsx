// The mean of every arm over the two fields of a study's grid, as a map. Each cell is read out at
// the pointer, and by the arrow keys.
import { useState } from 'react'
import { type HeatGrid, heatShade } from '../../document/study/report/heat.ts'
import { short } from '../../document/study/report/svg.ts'
import { formatShare, NONE } from '../kit/format.ts'
import { cutText } from '../kit/xml_text.ts'
import type { Owner } from '../plot/files/SaveAs.tsx'
import { useSize } from '../plot/plot_hooks.ts'
import { Readout } from '../plot/Readout.tsx'
import { StillFigure } from '../plot/still/StillFigure.tsx'

const LEFT = 110
const HEAD = 24
const HIGH = 34
const WIDEST = 110
const NARROWEST = 44
const LETTERS = 14
/** From here on the text of a cell is that of the paper. */
const DARK = 0.55

interface Place {
  readonly row: number
  readonly column: number
}

interface MapProps {
  readonly grid: HeatGrid
  readonly at: Place | undefined
  readonly onMove: (at: Place | undefined) => void
  readonly textOf: (value: number | undefined) => string
}

function Cells({ grid, at, onMove, textOf, width }: MapProps & { readonly width: number }) {
  const { downs, acrosses, cells } = grid
  const wide = Math.max(NARROWEST, Math.min(WIDEST, (width - LEFT) / acrosses.length))
  const shade = heatShade(grid)
  return (
    <svg
      className="grid-map"
      aria-hidden="true"
      width={LEFT + acrosses.length * wide}
      height={HEAD + downs.length * HIGH}
      onPointerLeave={() => onMove(undefined)}
    >
      {acrosses.map((text, column) => (
        <text key={text} x={LEFT + (column + 0.5) * wide} y={HEAD - 8} textAnchor="middle">
          {cutText(text, LETTERS)}
        </text>
      ))}
      {cells.map((values, row) => (
        <g key={downs[row]} transform={`translate(0 ${HEAD + row * HIGH})`}>
          <text x={LEFT - 8} y={HIGH / 2 + 3} textAnchor="end">
            {cutText(downs[row], LETTERS)}
          </text>
          {values.map((value, column) => (
            <g key={acrosses[column]} onPointerEnter={() => onMove({ row, column })}>
              <rect
                className={value === undefined ? 'empty' : 'known'}
                x={LEFT + column * wide}
                width={wide - 2}
                height={HIGH - 2}
                fillOpacity={value === undefined ? 1 : 0.08 + 0.92 * shade(value)}
                strokeWidth={at?.row === row && at.column === column ? 2 : 0}
              />
              {value === undefined ? null : (
                <text
                  className={shade(value) > DARK ? 'on-dark' : ''}
                  x={LEFT + (column + 0.5) * wide - 1}
                  y={HIGH / 2 + 3}
                  textAnchor="middle"
                >
                  {textOf(value)}
                </text>
              )}
            </g>
          ))}
        </g>
      ))}
    </svg>
  )
}

function SizedCells(props: MapProps) {
  const { ref, size } = useSize()
  return (
    <div ref={ref} className="svg-chart-place">
      {size.width > 0 ? <Cells {...props} width={size.width} /> : null}
    </div>
  )
}

export function GridFigure(props: {
  readonly grid: HeatGrid
  readonly is_share: boolean
  readonly owner: Owner
}) {
  const { grid, is_share, owner } = props
  const { title, down, across, downs, acrosses, cells } = grid
  const [at, move] = useState<Place>()
  const textOf = (value: number | undefined) =>
    value === undefined ? NONE : is_share ? formatShare(value) : short(value)
  const cellText = ({ row, column }: Place) =>
    `${down} ${downs[row]}, ${across} ${acrosses[column]}: ${textOf(cells[row][column])}`
  const all = cells.flatMap((values, row) => values.map((_, column) => cellText({ row, column })))
  const place = at ?? { row: 0, column: 0 }
  return (
    <StillFigure
      id="study-heat"
      title={title}
      note={`${across} from left to right, ${down} from top to bottom. Arms that share both values are averaged; the colours span only the values that were found, however near they are.`}
      owner={owner}
      table={() => ({
        columns: [`${down} \\ ${across}`, ...acrosses],
        rows: cells.map((values, row) => [downs[row], ...values.map(textOf)]),
      })}
    >
      {(id) => (
        <>
          <SizedCells grid={grid} at={at} onMove={move} textOf={textOf} />
          <Readout
            id={`${id}-value`}
            label={`${across}, and ${down} by up and down`}
            read={() => ({
              stops: acrosses.map((_, i) => i),
              at: at?.column,
              text: at ? cellText(at) : all.join('; '),
              ...(at
                ? {}
                : {
                    written:
                      'Point at a cell, or move along with the arrow keys, for its settings.',
                  }),
            })}
            onMove={(column) => move(column === undefined ? undefined : { ...place, column })}
            onVertical={(by) =>
              move({ ...place, row: Math.min(downs.length - 1, Math.max(0, place.row - by)) })
            }
          />
        </>
      )}
    </StillFigure>
  )
}
