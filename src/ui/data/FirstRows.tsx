// Draws the first rows of a data file as they are, with the columns that are taken marked.
import { type DataPlan, type OpenedData, roleOf } from '../../page/client/data_file.ts'

export function FirstRows({
  opened,
  plan,
}: {
  readonly opened: OpenedData
  readonly plan: DataPlan
}) {
  const { columns } = opened
  const roles = columns.map((column) => roleOf(column, plan))
  return (
    <section className="data-rows" aria-label="First rows" tabIndex={0}>
      <table data-testid="data-rows">
        <thead>
          <tr>
            {columns.map((column, c) => (
              <th
                key={column}
                scope="col"
                translate="no"
                className={roles[c] ? 'taken' : undefined}
              >
                {column}
                {roles[c] ? <small> {roles[c]}</small> : null}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {opened.first_rows.map(({ place, cells }) => (
            <tr key={place}>
              {cells.map((cell, c) => (
                <td key={columns[c]} translate="no" className={roles[c] ? 'taken' : undefined}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
