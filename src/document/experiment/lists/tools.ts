// Declares the tools of an experiment: a list in the document, one choice in a form and in a link.
import * as z from 'zod/mini'
import { isObject } from '../../../formats/json.ts'
import { type FieldInfo, show } from '../../../rl/fields/field.ts'
import { PROGRAM_ID } from '../../../tasks/task/program.ts'
import { TOOLS, type ToolChoice } from '../../../tasks/tools/index.ts'
import { nameOf } from '../../../tasks/tools/tool.ts'

const IDS = TOOLS.map(nameOf)
const LABELS = TOOLS.map((tool) => tool.label ?? nameOf(tool))
const MOST_TOOLS = 8
const MOST_NAME = 80
const CODE = /^sha256-[0-9a-f]{64}$/

/** A list as text, which is how forms and links write it: `calculator,program:sha256-…:dice.py`; ''
 * = no tools. */
export const toolsText = (tools: readonly ToolChoice[]): string =>
  tools.map((tool) => [tool.id, ...programOf(tool)].join(':')).join(',')

const programOf = ({ code, name }: ToolChoice): string[] =>
  code === undefined ? [] : [code, encodeURIComponent(name ?? '')]

const listOf = (text: string): unknown => (text === '' ? [] : text.split(',').map(choiceOf))

function choiceOf(text: string): unknown {
  const [id, code, name] = text.split(':')
  try {
    return code === undefined ? { id } : { id, code, name: decodeURIComponent(name) }
  } catch {
    return text
  }
}

const isProgram = ({ id, code, name, ...more }: Partial<ToolChoice>): boolean =>
  id === PROGRAM_ID &&
  Object.keys(more).length === 0 &&
  CODE.test(`${code}`) &&
  typeof name === 'string' &&
  name.isWellFormed() &&
  name.length > 0 &&
  name.length <= MOST_NAME

const isChoice = (one: unknown): one is ToolChoice =>
  isObject(one) &&
  (isProgram(one) || (Object.keys(one).join() === 'id' && IDS.includes(`${one.id}`)))

const isChoices = (value: unknown): value is ToolChoice[] =>
  Array.isArray(value) &&
  value.length <= MOST_TOOLS &&
  value.every(
    (one, i) =>
      isChoice(one) &&
      value.findIndex((other) => other.id === one.id && other.code === one.code) === i,
  )

const listed = (value: unknown): unknown => (typeof value === 'string' ? listOf(value) : value)

/** A list of `{id}` and programs `{id, code, name}`, or its text. */
export const toolsSchema = z.pipe(
  z.unknown().check(
    z.refine((value) => isChoices(listed(value)), {
      error: ({ input }) =>
        `expected a list of different tools, each as {id} with id ${IDS.map((id) => `'${id}'`).join(' or ')}, or a program as {id: 'program', code, name} with code its sha256, got ${show(input)}`,
    }),
  ),
  z.transform((value) => listed(value) as ToolChoice[]),
)

/** Every choice of a form: no tool, each by itself, and all of them. */
const CHOICES: readonly (readonly [text: string, label: string])[] = [
  ['', 'none'],
  ...IDS.map((id, i) => [id, LABELS[i]] as const),
  [IDS.join(','), LABELS.join(' and ')],
]

export const TOOLS_INFO: FieldInfo = {
  label: 'Tools',
  help: 'What the policy may call in the middle of a response. It needs more than one turn (rollout.max_turns).',
  unit: '',
  kind: 'select',
  options: CHOICES.map(([value, label]) => ({ value, label })),
  default: '',
  live: false,
}

/** The choices of a form; programs are added where they can be read, and what there is stays a
 * choice. */
export function toolOptions(tools: readonly ToolChoice[]): NonNullable<FieldInfo['options']> {
  const { options = [] } = TOOLS_INFO
  const value = toolsText(tools)
  if (options.some((option) => option.value === value)) return options
  const label = tools.map(({ id, name }) => name ?? id).join(' and ')
  return [...options, { value, label }]
}
