// Draws the foot of a figure of Inside: its numbers as a table, and the figure as files.
import '../still/still.css'
import { figureMakers } from './figure_files.ts'
import { NumbersTable } from './NumbersTable.tsx'
import type { NumberTable } from './number_table.ts'
import { SaveAs } from './SaveAs.tsx'

/** The numbers behind a figure, made only while they are unfolded, and the figure as files. */
export function FigureNumbers(props: {
  readonly id: string
  readonly caption: string
  readonly table: () => NumberTable
}) {
  const { id, caption, table } = props
  return (
    <div className="figure-foot">
      <NumbersTable id={id} title={caption} table={table} />
      <SaveAs
        id={id}
        what={caption}
        file={id.replace(/-numbers$/, '')}
        make={figureMakers({ title: caption, table })}
      />
    </div>
  )
}
