// The first rows of a data file as they are, with the columns that are taken marked.
import type { DataPlan, OpenedData } from '../../lab/page/contents/data_file.ts'

/** What a column is taken for; undefined where it is left alone. */
function roleOf(column: string, plan: DataPlan): string | undefined {
  const takes = (key: string) => key === column || key.startsWith(`${column}.`)
  if (takes(plan.answer_key)) return plan.prompt_key === '' ? 'text' : 'answer'
  if (plan.prompt_key !== '' && takes(plan.prompt_key)) return 'prompt'
  return plan.reward_fn_key !== '' && takes(plan.reward_fn_key) ? 'source' : undefined
}

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
              <th key={column} scope="col" className={roles[c] ? 'taken' : undefined}>
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
                <td key={columns[c]} className={roles[c] ? 'taken' : undefined}>
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
