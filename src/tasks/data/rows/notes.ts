// Says in sentences what a person should know of how the columns of a file are taken.
import type { Mapping } from '../table/data_file.ts'
import type { Table } from '../table/table.ts'
import { cellsOf } from './cells.ts'
import { ANSWERS, unusedColumns } from './propose.ts'
import { lastRole } from './turns.ts'

/** Says which columns are not used, that there are no right answers, and what of conversations is
 * left out. */
export function notesOf(table: Table, mapping: Mapping): readonly string[] {
  const { row_format, prompt_key, answer_key } = mapping
  const unused = unusedColumns(table, mapping)
  const open =
    row_format === 'conversations'
      ? cellsOf(table, prompt_key).filter(
          (cell) => Array.isArray(cell) && lastRole(cell) === 'user',
        ).length
      : 0
  return [
    ...(unused.length > 0
      ? [`Not used: ${unused.join(', ')}. (A program as reward is handed every column.)`]
      : []),
    ...(row_format === 'answers' && prompt_key !== null && answer_key === null
      ? [withoutAnswers()]
      : []),
    ...(open > 0
      ? [
          `${open} ${open === 1 ? 'conversation ends' : 'conversations end'} with a turn of the user, which is not used.`,
        ]
      : []),
  ]
}

/** What rows of prompts alone are good for. */
const withoutAnswers = (): string =>
  `No column with right answers (looked for ${ANSWERS.join(', ')}). Prompts alone can be answered and scored: by a program as reward, or by a reward model.`
