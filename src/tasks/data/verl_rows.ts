// Rows of a data set as verl reads them: JSON lines of {data_source, prompt: [{role, content}], reward_model: {ground_truth}, …}.

/** One problem of a data set. */
export interface DataRow {
  /** Contents of the messages, one after the other: what a chat template without marks makes of them. */
  readonly prompt: string
  readonly ground_truth: string
}

/** A data file that cannot be read; the message names file and line. */
export class DataFileError extends Error {
  override readonly name = 'DataFileError'
}

/** Rows of a verl data file in JSON lines; empty lines are left out. Throws DataFileError for the first line that is none. */
export function readVerlRows(text: string, file: string): DataRow[] {
  const rows = text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return []
    const refuse = (what: string) => new DataFileError(`${file}: line ${i + 1}: ${what}`)
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch {
      throw refuse('expected one JSON object, found text that is no JSON')
    }
    return [{ prompt: promptOf(json, refuse), ground_truth: truthOf(json, refuse) }]
  })
  if (rows.length === 0) throw new DataFileError(`${file}: expected one row or more, found none`)
  return rows
}

type Refuse = (what: string) => DataFileError

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

function promptOf(row: unknown, refuse: Refuse): string {
  const messages = field(row, 'prompt')
  if (!Array.isArray(messages) || messages.length === 0)
    throw refuse('prompt: expected a list of messages {role, content}')
  const contents = messages.map((message) => field(message, 'content'))
  const broken = contents.findIndex((content) => typeof content !== 'string')
  if (broken >= 0) throw refuse(`prompt[${broken}].content: expected a text`)
  return contents.join('')
}

function truthOf(row: unknown, refuse: Refuse): string {
  const truth = field(field(row, 'reward_model'), 'ground_truth')
  if (typeof truth !== 'string') throw refuse('reward_model.ground_truth: expected a text')
  return truth
}
