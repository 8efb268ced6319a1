// Draws the mean of every arm over the two fields of a study's grid, as a map. Each cell is read
// out at the pointer, and by the arrow keys.
import { useState } from 'react'
import { type HeatGrid, heatShade } from '../../../document/study/report/heat.ts'
import type { Units } from '../../../document/study/report/units.ts'
import { NONE } from '../../kit/format.ts'
import type { Owner } from '../../plot/files/SaveAs.tsx'
import { Readout } from '../../plot/Readout.tsx'
import { type Cell, CellMap, type CellPlace } from '../../plot/still/CellMap.tsx'
import { StillFigure } from '../../plot/still/StillFigure.tsx'

export function GridFigure(props: {
  readonly grid: HeatGrid
  readonly units: Units
  readonly owner: Owner
}) {
  const { grid, units, owner } = props
  const { title, down, across, downs, acrosses, cells } = grid
  const [at, move] = useState<CellPlace>()
  const textOf = (value: number | undefined) =>
    value === undefined ? NONE : units.valueText(value)
  const cellText = ({ row, column }: CellPlace) =>
    `${down} ${downs[row]}, ${across} ${acrosses[column]}: ${textOf(cells[row][column])}`
  const all = cells.flatMap((values, row) => values.map((_, column) => cellText({ row, column })))
  const place = at ?? { row: 0, column: 0 }
  const shade = heatShade(grid)
  const shaded = cells.map((values) =>
    values.map(
      (value): Cell =>
        value === undefined
          ? { text: '', tone: 'empty', share: 0 }
          : { text: textOf(value), tone: 'known', share: shade(value) },
    ),
  )
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
          <CellMap columns={acrosses} rows={downs} cells={shaded} at={at} onMove={move} />
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
