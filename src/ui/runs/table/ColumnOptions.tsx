// Draws the columns of the table of runs as choices, by group.
import { type columnGroups, columnLabel } from '../base/columns.ts'

export const ColumnOptions = ({ groups }: { readonly groups: ReturnType<typeof columnGroups> }) =>
  groups.map(({ name, columns }) => (
    <optgroup key={name} label={name}>
      {columns.map((column) => (
        <option key={column} value={column}>
          {columnLabel(column, columns)}
        </option>
      ))}
    </optgroup>
  ))
