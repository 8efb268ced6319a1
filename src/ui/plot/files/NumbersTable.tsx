// Draws the numbers of a chart or a figure as a table, on demand.
import { useState } from 'react'
import { useSlowFrame } from '../../shown/readout.ts'
import type { NumberTable } from './number_table.ts'

const REFRESH_MS = 2000

interface Props {
  readonly id: string
  /** What the numbers are of. */
  readonly title: string
  /** Asked while the table is unfolded, again when the run has moved on. */
  readonly table: () => NumberTable
}

export function NumbersTable(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="chart-numbers"
      data-testid={props.id}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>Numbers</summary>
      {isOpen ? <Table {...props} /> : null}
    </details>
  )
}

function Table({ title, table }: Props) {
  useSlowFrame(REFRESH_MS)
  const { columns, keys = columns, rows, note } = table()
  if (rows.length === 0) return <p className="soft">Nothing measured in these steps yet.</p>
  return (
    <>
      {note === undefined ? null : <p className="soft">{note}</p>}
      <div className="scroll" tabIndex={0} role="region" aria-label={`Numbers of ${title}`}>
        <table>
          <thead>
            <tr>
              {columns.map((column, i) => (
                <th key={keys[i]} scope="col">
                  <span>{column}</span>
                  {keys[i] === column ? null : (
                    <small className="soft" translate="no">
                      <br />
                      {keys[i]}
                    </small>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, ...values]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {values.map((value, i) => (
                  <td key={keys[i + 1]}>{value}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
