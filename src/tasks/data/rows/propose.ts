// Guesses what each column of a file is: by what the columns hold and by their names, and in files
// of two columns by their place.
import { type Mapping, NO_COLUMNS } from '../table/data_file.ts'
import { isObject, type Table } from '../table/table.ts'
import { cellsOf } from './cells.ts'
import { lastRole, looksLikeTurns } from './turns.ts'
import { readVerdict } from './verdict.ts'

/** Names of columns that hold prompts and answers, the likeliest first. */
export const PROMPTS = [
  'prompt',
  'question',
  'problem',
  'instruction',
  'query',
  'input.messages',
  'input',
  'messages',
  'conversations',
  'conversation',
] as const
export const ANSWERS = [
  'reward_model.ground_truth',
  'ground_truth',
  'answer',
  'solution',
  'expected_answer',
  'final_answer',
  'target',
  'completion',
  'response',
  'output',
  'label',
] as const
const CHOSEN = ['chosen', 'preferred', 'preferred_output', 'chosen_response', 'winner'] as const
const REJECTED = [
  'rejected',
  'dispreferred',
  'non_preferred_output',
  'rejected_response',
  'loser',
] as const
const WRITTEN = ['completion', 'response', 'answer', 'output'] as const
const LABELS = ['label', 'kto_tag', 'is_good', 'is_desirable', 'desirable', 'verdict'] as const
const INPUTS = ['input', 'context'] as const
const TEXTS = ['text', 'content'] as const
/** What tells rows apart and answers nothing: never an answer by its place. */
const NO_ANSWERS =
  /^(id|idx|index|uuid|row|.*_id|data_source|source|dataset|split|topic|subject|category|type|kind|level|difficulty|ability|tags?|meta|metadata|extra_info|style|url|lang|language|system)$/i

/** Rows that are looked at. */
const LOOKED_AT = 20

/** The keys that a person may choose: columns, and the names inside of columns that hold
 * objects. */
export function keysOf(table: Table): readonly string[] {
  return table.columns.flatMap((name, c) => {
    const inner = new Set<string>()
    for (const row of table.rows.slice(0, LOOKED_AT)) {
      const cell = row[c]
      if (isObject(cell) && !looksLikeTurns(cell))
        for (const own of Object.keys(cell)) inner.add(`${name}.${own}`)
    }
    return inner.size > 0 ? [...inner, name] : [name]
  })
}

/** Looks into the first rows of a table. */
function finder(whole: Table) {
  const table = { ...whole, rows: whole.rows.slice(0, LOOKED_AT) }
  const cells = (key: string | null) =>
    cellsOf(table, key).filter((cell) => cell !== undefined && cell !== null)
  const own = (name: string) => table.columns.find((one) => one.toLowerCase() === name) ?? name
  return {
    byName: (names: readonly string[]) =>
      names.map(own).find((key) => cells(key).length > 0) ?? null,
    isTurns: (key: string | null) => cells(key).some(looksLikeTurns),
    endsWithAnswer: (key: string | null) =>
      cells(key).some((cell) => looksLikeTurns(cell) && lastRole(cell) === 'assistant'),
    isText: (key: string | null) => cells(key).every((cell) => typeof cell === 'string'),
    isVerdict: (key: string | null) =>
      cells(key).length > 0 && cells(key).every((cell) => readVerdict(cell) !== undefined),
  }
}

/** What each column is likely to be. Keys that nothing fits are null. */
export function proposeMapping(table: Table): Mapping {
  const { byName, isTurns, endsWithAnswer, isText, isVerdict } = finder(table)
  const shared = { ...NO_COLUMNS, reward_fn_key: byName(['data_source']) }
  const prompt_key = byName(PROMPTS)
  const input = byName(INPUTS)
  const hasInput = /^(instruction|question|prompt)$/i.test(prompt_key ?? '') && isText(input)
  const system = byName(['system', 'system_prompt'])
  const prompt = {
    prompt_key,
    input_key: hasInput ? input : null,
    system_key: isText(system) ? system : null,
  }
  const [chosen_key, rejected_key] = [byName(CHOSEN), byName(REJECTED)]
  if (chosen_key !== null && rejected_key !== null)
    return { ...shared, ...prompt, row_format: 'pairs', chosen_key, rejected_key }
  const label_key = byName(LABELS)
  const written = byName(WRITTEN)
  if (
    prompt_key !== null &&
    isVerdict(label_key) &&
    (written !== null || endsWithAnswer(prompt_key))
  )
    return { ...shared, ...prompt, row_format: 'verdicts', answer_key: written, label_key }
  const answer_key = byName(ANSWERS.filter((name) => name !== prompt.input_key))
  const talk = [
    ...new Set([...PROMPTS.toReversed().map((name) => byName([name])), ...table.columns]),
  ]
    .filter((key) => key !== null && key !== answer_key)
    .find(endsWithAnswer)
  if (talk !== undefined && (answer_key === null || prompt_key === null || prompt_key === talk))
    return {
      ...shared,
      system_key: prompt.system_key,
      row_format: 'conversations',
      prompt_key: talk,
    }
  if (prompt_key !== null && answer_key !== null) return { ...shared, ...prompt, answer_key }
  const text =
    table.columns.length === 1 && !isTurns(table.columns[0]) ? table.columns[0] : byName(TEXTS)
  if (prompt_key === null && answer_key === null && text !== null)
    return { ...shared, answer_key: text }
  if (prompt_key === null && text !== null && answer_key === text)
    return { ...shared, answer_key: text }
  return { ...shared, ...prompt, ...byPlace(table, prompt_key, answer_key) }
}

/** Of two columns the one without a name that is known is what is missing. */
function byPlace({ columns }: Table, prompt_key: string | null, answer_key: string | null) {
  const others = columns.filter((name) => name !== prompt_key && !answer_key?.startsWith(name))
  const [first = null, second = null] = others
  if (columns.length !== 2) return { prompt_key, answer_key }
  if (prompt_key === null && answer_key === null) return { prompt_key: first, answer_key: second }
  if (prompt_key === null) return { prompt_key: first, answer_key }
  return { prompt_key, answer_key: NO_ANSWERS.test(first ?? '') ? null : first }
}

/** The keys that a mapping takes. */
const takenKeys = (mapping: Mapping): readonly string[] => {
  const { row_format, prompt_key, input_key, system_key, reward_fn_key } = mapping
  const { answer_key, chosen_key, rejected_key, label_key } = mapping
  const own = {
    answers: [input_key, answer_key],
    conversations: [],
    pairs: [input_key, chosen_key, rejected_key],
    verdicts: [input_key, answer_key, label_key],
  }[row_format]
  return [prompt_key, system_key, reward_fn_key, ...own].filter((key) => key !== null)
}

/** What a column is taken for, in a word; undefined where it is left alone. */
export function roleOf(column: string, mapping: Mapping): string | undefined {
  const takes = (key: string | null) => key === column || !!key?.startsWith(`${column}.`)
  if (!takenKeys(mapping).some(takes)) return column === 'extra_info' ? 'for rewards' : undefined
  const { row_format, prompt_key } = mapping
  const roles: readonly (readonly [key: string | null, role: string])[] = [
    [mapping.chosen_key, 'better'],
    [mapping.rejected_key, 'worse'],
    [mapping.label_key, 'verdict'],
    [mapping.answer_key, prompt_key === null && row_format === 'answers' ? 'text' : 'answer'],
    [prompt_key, row_format === 'conversations' ? 'conversation' : 'prompt'],
    [mapping.input_key, 'input'],
    [mapping.system_key, 'system'],
    [mapping.reward_fn_key, 'source'],
  ]
  return roles.find(([key]) => takes(key))?.[1]
}

/** The columns that nothing is taken from. */
export const unusedColumns = ({ columns }: Table, mapping: Mapping): readonly string[] =>
  columns.filter((column) => roleOf(column, mapping) === undefined)
