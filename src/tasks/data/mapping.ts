// Which column of a data file is what, and the rows that follow from it. Column names are those of verl and TRL where a file has them.
import { type Reading, STRICT } from './bad_rows.ts'
import { DataFileError } from './data_file.ts'
import { type Cell, kindOfCell, shownCell, type Table } from './table.ts'

/** Which columns are taken. A key is a column's name, or names with dots for what lies inside a cell, e.g. reward_model.ground_truth. */
export interface Mapping {
  /** verl's data.prompt_key: a text, or messages {role, content}. '' = there are no prompts: the rows are text to continue. */
  readonly prompt_key: string
  /** The right answer; without prompts, the text. */
  readonly answer_key: string
  /** verl's data.reward_fn_key: where a problem comes from, for reward functions; '' = nowhere. */
  readonly reward_fn_key: string
}

/** One problem of a data set. */
export interface DataRow {
  /** Of several messages the contents, one after the other: what a chat template without marks makes of them. */
  readonly prompt: string
  readonly ground_truth: string
  /** The messages, where the prompt is messages: for tokenizers with a chat template. */
  readonly messages?: readonly { readonly role: string; readonly content: string }[]
  /** What reward functions are told; absent where the file does not say it. */
  readonly data_source?: string
  readonly extra_info?: Readonly<Record<string, unknown>>
}

/** Names of columns that hold prompts and answers, the likeliest first. */
const PROMPTS = ['prompt', 'question', 'problem', 'instruction', 'query', 'input', 'messages']
const ANSWERS = [
  ...['reward_model.ground_truth', 'ground_truth', 'answer', 'solution', 'expected_answer'],
  ...['final_answer', 'target', 'completion', 'response', 'output', 'label', 'chosen'],
]
const TEXTS = ['text', 'content']

/** What each column is likely to be, by its name, and in files of two columns by its place. Keys that nothing fits are ''. */
export function proposeMapping(table: Table): Mapping {
  const { columns } = table
  const has = (key: string) => cellsOf(table, key).some((cell) => cell !== undefined)
  const byName = (names: readonly string[]) =>
    names.map((name) => columns.find((own) => own.toLowerCase() === name) ?? name).find(has) ?? ''
  const reward_fn_key = byName(['data_source'])
  const prompt_key = byName(PROMPTS)
  const answer_key = byName(ANSWERS)
  if (prompt_key !== '' && answer_key !== '') return { prompt_key, answer_key, reward_fn_key }
  const text = columns.length === 1 ? columns[0] : byName(TEXTS)
  if (prompt_key === '' && text !== '') return { prompt_key: '', answer_key: text, reward_fn_key }
  const others = columns.filter((name) => ![prompt_key, answer_key, reward_fn_key].includes(name))
  const [first = ''] = others
  if (prompt_key === '' && answer_key === '')
    return { prompt_key: first, answer_key: others[1] ?? '', reward_fn_key }
  return prompt_key === ''
    ? { prompt_key: first, answer_key, reward_fn_key }
    : { prompt_key, answer_key: first, reward_fn_key }
}

/** The keys that a person may choose: columns, and the names inside of columns that hold objects. */
export function keysOf(table: Table): readonly string[] {
  const LOOKED_AT = 20
  return table.columns.flatMap((name, c) => {
    const inner = new Set<string>()
    for (const row of table.rows.slice(0, LOOKED_AT)) {
      const cell = row[c]
      if (isObject(cell)) for (const own of Object.keys(cell)) inner.add(`${name}.${own}`)
    }
    return inner.size > 0 ? [...inner] : [name]
  })
}

/**
 * The rows of a table as problems; undefined for a bad row. Throws DataFileError for a column that there is not. Without `onBadRow` the first
 * bad row is an error that names row and column.
 */
export function mapRows(
  table: Table,
  mapping: Mapping,
  file: string,
  { onBadRow }: Reading = STRICT,
): (DataRow | undefined)[] {
  const { prompt_key, answer_key, reward_fn_key } = mapping
  const column = (key: string) => {
    if (!table.columns.some((name) => key === name || key.startsWith(`${name}.`)))
      throw new DataFileError(
        `${file}: expected a column ${key}, found ${table.columns.slice(0, 12).join(', ')}`,
      )
    return cellsOf(table, key)
  }
  const answers = column(answer_key)
  const prompts = prompt_key === '' ? undefined : column(prompt_key)
  const sources = reward_fn_key === '' ? [] : cellsOf(table, reward_fn_key)
  const infos = cellsOf(table, 'extra_info')
  const row = (r: number): DataRow => {
    const text = (cells: readonly (Cell | undefined)[], key: string) =>
      textOf(cells[r], (what) => {
        throw new DataFileError(`${file}: ${table.placeOf(r)}, column ${key}: ${what}`)
      })
    const prompt = prompts ? text(prompts, prompt_key) : ''
    const ground_truth = text(answers, answer_key)
    if (prompts && prompt === '')
      throw new DataFileError(
        `${file}: ${table.placeOf(r)}, column ${prompt_key}: expected a prompt, found an empty text`,
      )
    const [source, info] = [sources[r], infos[r]]
    return {
      ...{ prompt, ground_truth },
      ...messagesOf(prompts?.[r]),
      ...(typeof source === 'string' && { data_source: source }),
      ...(isObject(info) && { extra_info: info }),
    }
  }
  return table.rows.map((_, r) => usable(() => row(r), onBadRow))
}

/** What a row comes to; undefined where it is a bad one. */
export function usable<T>(make: () => T, onBadRow: Reading['onBadRow']): T | undefined {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof DataFileError)) throw error
    onBadRow(error.message)
    return undefined
  }
}

const isObject = (cell: unknown): cell is { readonly [name: string]: Cell } =>
  typeof cell === 'object' && cell !== null && !Array.isArray(cell)

/** The values of a key in every row: a column of that name comes before what lies inside of one. */
function cellsOf({ columns, rows }: Table, key: string): (Cell | undefined)[] {
  const own = columns.indexOf(key)
  if (own >= 0) return rows.map((row) => row[own])
  const [name, ...path] = key.split('.')
  const outer = columns.indexOf(name)
  return rows.map((row) =>
    path.reduce<Cell | undefined>(
      (cell, inner) => (isObject(cell) && Object.hasOwn(cell, inner) ? cell[inner] : undefined),
      outer < 0 ? undefined : row[outer],
    ),
  )
}

/** Messages that all say whose they are; checked before by `textOf`. */
function messagesOf(cell: Cell | undefined): Pick<DataRow, 'messages'> {
  if (!Array.isArray(cell)) return {}
  const messages = cell.flatMap((message) =>
    isObject(message) && typeof message.role === 'string' && typeof message.content === 'string'
      ? [{ role: message.role, content: message.content }]
      : [],
  )
  return messages.length === cell.length ? { messages } : {}
}

type Refuse = (what: string) => never

/** A text, a finite number or a truth value as text; messages as their contents, one after the other. */
function textOf(cell: Cell | undefined, refuse: Refuse): string {
  if (typeof cell === 'string')
    return cell.isWellFormed()
      ? cell
      : refuse('expected text, found half of a character (a lone surrogate)')
  if (typeof cell === 'boolean') return `${cell}`
  if (typeof cell === 'number')
    return Number.isFinite(cell) ? `${cell}` : refuse(`expected a text or a number, found ${cell}`)
  if (!Array.isArray(cell) || cell.length === 0)
    return refuse(`expected a text, found ${kindOfCell(cell)} (${shownCell(cell)})`)
  return cell
    .map((message, i) => {
      const content =
        isObject(message) && Object.hasOwn(message, 'content') ? message.content : undefined
      if (typeof content !== 'string')
        return refuse(
          `expected messages {role, content}; message ${i + 1} has no text as its content`,
        )
      return textOf(content, refuse)
    })
    .join('')
}
