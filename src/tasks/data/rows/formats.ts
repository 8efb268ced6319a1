// Makes a problem of one row of a file, for each format of rows.
import type { Mapping, RowFormat } from '../table/data_file.ts'
import { type Cell, isObject, kindOfCell, shownCell } from '../table/table.ts'
import { plainJson, type Refuse, textOf } from './cells.ts'
import type { DataRow } from './row.ts'
import { looksLikeTurns, type Turn, turnsOf } from './turns.ts'
import { readVerdict, VERDICT_WORDS } from './verdict.ts'

/** One row of a file: its cells by their keys, and how one is refused. */
export interface Place {
  readonly cell: (key: string | null) => Cell | undefined
  readonly refuse: (key: string | null) => Refuse
}

type Asked = Pick<DataRow, 'prompt' | 'messages'>
type Make = (mapping: Mapping, place: Place, firstAnswer: Cell | undefined) => readonly DataRow[]

/** `firstAnswer`: the first right answer of the file, which says whether they are texts or
 * objects. */
export const makeRows: Make = (mapping, place, firstAnswer) =>
  FORMATS[mapping.row_format](mapping, place, firstAnswer)

const FORMATS: Readonly<Record<RowFormat, Make>> = {
  answers: (mapping, place, firstAnswer) => {
    const { prompt_key, answer_key } = mapping
    const asked = prompt_key === null ? { prompt: '' } : askedOf(mapping, place)
    const ground_truth =
      answer_key === null
        ? ''
        : truthOf(place.cell(answer_key), firstAnswer, place.refuse(answer_key))
    return [{ ...asked, ground_truth }]
  },
  conversations: (mapping, place) => {
    const { prompt_key, every_turn } = mapping
    const refuse = place.refuse(prompt_key)
    const turns = withSystem(mapping, place, turnsOf(place.cell(prompt_key), refuse))
    const rows = turns.flatMap((turn, t) =>
      isAnswer(turn) && turn.isLearnt ? [answered(turns.slice(0, t), turn, refuse)] : [],
    )
    if (rows.length === 0) return refuse('expected a turn of the assistant to learn, found none')
    if (!every_turn) return rows.slice(-1)
    const [{ prompt: conversation }] = rows
    return rows.map((row) => ({ ...row, conversation }))
  },
  pairs: (mapping, place) => {
    const { chosen_key, rejected_key } = mapping
    const [better, worse] = [chosen_key, rejected_key].map((key) =>
      answerOf(place.cell(key), place.refuse(key)),
    )
    const row = paired(mapping, place, better, worse)
    const [chosen, rejected] = [row.ground_truth, ...(row.rejected ?? [])]
    if (`${chosen}`.trim() === '')
      return place.refuse(chosen_key)('expected an answer, found an empty text')
    if (rejected.trim() === '')
      return place.refuse(rejected_key)('expected an answer, found an empty text')
    if (chosen === rejected)
      return place.refuse(rejected_key)('expected a worse answer, found the same as the better one')
    return [row]
  },
  verdicts: (mapping, place) => {
    const { prompt_key, answer_key, label_key } = mapping
    const isGood = readVerdict(place.cell(label_key))
    if (isGood === undefined)
      return place.refuse(label_key)(
        `expected ${VERDICT_WORDS}, found ${shownCell(place.cell(label_key))}`,
      )
    const own = answer_key ?? prompt_key
    const { beginning, text } = answerOf(place.cell(own), place.refuse(own))
    if (text.trim() === '') return place.refuse(own)('expected an answer, found an empty text')
    const asked =
      answer_key === null ? asks(withSystem(mapping, place, beginning)) : askedOf(mapping, place)
    if (asked.prompt === '') return place.refuse(prompt_key)('expected a prompt, found none')
    return [
      isGood ? { ...asked, ground_truth: text } : { ...asked, ground_truth: '', rejected: [text] },
    ]
  },
}

const isAnswer = ({ role }: Turn) => role === 'assistant'

/** Turns as a prompt. */
const asks = (turns: readonly Turn[]): Asked => ({
  prompt: turns.map(({ content }) => content).join(''),
  messages: turns.map(({ role, content }) => ({ role, content })),
})

/** The system's column in front of turns that have no such turn. */
function withSystem(
  { system_key }: Mapping,
  place: Place,
  turns: readonly Turn[],
): readonly Turn[] {
  const cell = place.cell(system_key) ?? ''
  if (system_key === null || cell === null || cell === '' || turns[0]?.role === 'system')
    return turns
  return [
    { role: 'system', content: textOf(cell, place.refuse(system_key)), isLearnt: false },
    ...turns,
  ]
}

function answered(before: readonly Turn[], { content }: Turn, refuse: Refuse): DataRow {
  const asked = asks(before)
  if (asked.prompt === '')
    return refuse('expected a prompt before the answer of the assistant, found none')
  if (content === '') return refuse('expected an answer of the assistant, found an empty text')
  return { ...asked, ground_truth: content }
}

/** The prompt of a row: a text, with its input where it has one, or messages. */
function askedOf(mapping: Mapping, place: Place): Asked {
  const { prompt_key, input_key, system_key } = mapping
  const refuse = place.refuse(prompt_key)
  const cell = place.cell(prompt_key)
  if (Array.isArray(cell) || looksLikeTurns(cell)) {
    if (Array.isArray(cell) && cell.length === 0)
      return refuse('expected a text, found a list ([])')
    const asked = asks(withSystem(mapping, place, turnsOf(cell, refuse)))
    return asked.prompt === '' ? refuse('expected a prompt, found an empty text') : asked
  }
  const instruction = textOf(cell, refuse)
  const given = place.cell(input_key)
  const input =
    input_key === null || (given ?? null) === null ? '' : textOf(given, place.refuse(input_key))
  const prompt =
    input_key === null ? instruction : joined(mapping.prompt_template, instruction, input)
  if (prompt === '') return refuse('expected a prompt, found an empty text')
  const turns = withSystem(mapping, place, [{ role: 'user', content: prompt, isLearnt: false }])
  return system_key !== null && turns.length > 1 ? asks(turns) : { prompt }
}

/** Instruction and input as the template says; with an empty input, what stands between the two is
 * left out. */
function joined(template: string, instruction: string, input: string): string {
  const names = /\{instruction\}[\s\S]*\{input\}|\{input\}[\s\S]*\{instruction\}/
  const asked = input.trim() === '' ? template.replace(names, '{instruction}') : template
  const shown = asked.replaceAll('\\n', '\n')
  // A function, because a text may have a $ in it; one pass, because it may have {input} in it.
  return shown.replaceAll(/\{(instruction|input)\}/g, (_, name) =>
    name === 'input' ? input : instruction,
  )
}

/** A right answer: a text; an object or a list only where the first one of the file is such too. */
function truthOf(
  cell: Cell | undefined,
  first: Cell | undefined,
  refuse: Refuse,
): DataRow['ground_truth'] {
  if (looksLikeTurns(cell)) return answerOf(cell, refuse).text
  const isJson = isStructured(first) && !looksLikeTurns(first)
  if (!isJson && isStructured(cell))
    return refuse(
      `expected a text as in other rows, found ${kindOfCell(cell)} (${shownCell(cell)})`,
    )
  if (!isStructured(cell)) return textOf(cell, refuse)
  return plainJson(cell)
}

const isStructured = (cell: Cell | undefined): cell is Cell => Array.isArray(cell) || isObject(cell)

interface Answer {
  /** The turns before it, where the cell is a conversation. */
  readonly beginning: readonly Turn[]
  readonly text: string
}

/** The answer in a cell: a text, or the last turn of the assistant. */
function answerOf(cell: Cell | undefined, refuse: Refuse): Answer {
  if (!isStructured(cell)) return { beginning: [], text: textOf(cell, refuse) }
  const turns = turnsOf(cell, refuse)
  const last = turns.at(-1)
  if (!last || !isAnswer(last))
    return refuse(
      `expected a conversation that ends with an answer of the assistant, found a turn of the ${last?.role}`,
    )
  return { beginning: turns.slice(0, -1), text: last.content }
}

/** Where an answer begins in texts of Anthropic's. */
const ASSISTANT = '\n\nAssistant:'

/** A pair: its prompt has a column, or is what both conversations begin with. */
function paired(mapping: Mapping, place: Place, better: Answer, worse: Answer): DataRow {
  const { prompt_key, chosen_key, rejected_key } = mapping
  const refuse = place.refuse(rejected_key)
  const begins = JSON.stringify(better.beginning)
  if (begins !== JSON.stringify(worse.beginning))
    return refuse('expected the same conversation before both answers, found another one')
  const answers = { ground_truth: better.text, rejected: [worse.text] }
  if (better.beginning.length > 0)
    return { ...asks(withSystem(mapping, place, better.beginning)), ...answers }
  if (prompt_key !== null) return { ...askedOf(mapping, place), ...answers }
  let same = 0
  while (same < better.text.length && better.text[same] === worse.text[same]) same++
  const at = better.text.lastIndexOf(ASSISTANT, same - ASSISTANT.length)
  if (at < 0 || same < ASSISTANT.length)
    return place.refuse(chosen_key)(
      'expected a column with the prompt, or two conversations that begin alike; found texts without a prompt',
    )
  const end = at + ASSISTANT.length
  const prompt = better.text.slice(0, end)
  return { prompt, ground_truth: better.text.slice(end), rejected: [worse.text.slice(end)] }
}
