// Draws a map of what was found, a cell for each change that was made; the values of one are read
// out by pointer and by keys.
import { useState } from 'react'
import type { NumberTable } from '../plot/files/number_table.ts'
import type { Owner } from '../plot/files/SaveAs.tsx'
import { Readout } from '../plot/Readout.tsx'
import { type Cell, CellMap, type CellPlace } from '../plot/still/CellMap.tsx'
import { StillFigure } from '../plot/still/StillFigure.tsx'
import { ownerOfShown } from './owner.ts'

interface TouchMapProps {
  /** Whose numbers they are: those of the shown run where not given. */
  readonly owner?: Owner
  readonly id: string
  readonly title: string
  readonly note: string
  readonly columns: readonly string[]
  readonly rows: readonly string[]
  /** By row, the topmost first. */
  readonly cells: readonly (readonly Cell[])[]
  readonly table: () => NumberTable
  /** The keys that move along, in words. */
  readonly label: string
  /** What a cell says. */
  readonly said: (place: CellPlace) => string
  readonly hint: string
}

export function TouchMap(props: TouchMapProps) {
  const { id, title, note, columns, rows, cells, table, label, said, hint } = props
  const [chosen, move] = useState<CellPlace>()
  const clamp = (row: number) => Math.min(rows.length - 1, Math.max(0, row))
  // Another map may have fewer rows.
  const at = chosen && { row: clamp(chosen.row), column: chosen.column }
  const place = at ?? { row: 0, column: 0 }
  const all = () => rows.flatMap((_, row) => columns.map((_c, column) => said({ row, column })))
  return (
    <StillFigure
      id={id}
      title={title}
      note={note}
      owner={props.owner ?? ownerOfShown()}
      table={table}
    >
      {(figure) => (
        <>
          <CellMap columns={columns} rows={rows} cells={cells} at={at} onMove={move} />
          <Readout
            id={`${figure}-value`}
            label={label}
            read={() => ({
              stops: columns.map((_, i) => i),
              at: at?.column,
              text: at ? said(at) : all().join('; '),
              ...(at ? {} : { written: hint }),
            })}
            onMove={(column) => move(column === undefined ? undefined : { ...place, column })}
            onVertical={(by) => move({ ...place, row: clamp(place.row - by) })}
          />
        </>
      )}
    </StillFigure>
  )
}
