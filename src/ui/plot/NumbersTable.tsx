// The numbers of a chart as a table, on demand: for people who do not see the picture, and for those who want the digits.
import { useState } from 'react'
import { formatCount, NONE } from '../kit/format.ts'
import type { Domain } from '../scales/domain.ts'
import { useSlowFrame } from '../shown/readout.ts'
import { type NamedColumns, numberTable } from './files/chart_file.ts'

/** Of each line. */
const MAX_VALUES = 50
const REFRESH_MS = 2000

interface Props {
  readonly id: string
  readonly title: string
  readonly x: Domain
  readonly columns: () => readonly NamedColumns[]
  readonly formatValue: (value: number | undefined) => string
}

export function NumbersTable(props: Props) {
  const [is_open, setOpen] = useState(false)
  return (
    <details
      className="chart-numbers"
      data-testid={`${props.id}-numbers`}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>Numbers</summary>
      {is_open ? <Table {...props} /> : null}
    </details>
  )
}

function Table({ title, x, columns, formatValue }: Props) {
  useSlowFrame(REFRESH_MS)
  const lines = columns()
  const { rows, left_out } = numberTable(
    lines.map((line) => line.columns),
    x,
    MAX_VALUES,
  )
  if (rows.length === 0) return <p className="soft">Nothing measured in these steps yet.</p>
  return (
    <>
      <p className="soft">
        {left_out === 0
          ? 'Every value of the steps shown, newest first.'
          : `Up to ${MAX_VALUES} values of each line, spread over the steps shown, newest first; ${formatCount(left_out)} more are in the CSV file.`}
      </p>
      <div className="scroll" tabIndex={0} role="group" aria-label={`Numbers of ${title}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">step</th>
              {lines.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ step, values }) => (
              <tr key={step}>
                <th scope="row">{step}</th>
                {lines.map(({ name }, i) => (
                  <td key={name}>{values[i] === undefined ? NONE : formatValue(values[i])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
