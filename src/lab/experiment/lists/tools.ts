// The tools of an experiment: a list in the document, one choice in a form and in a link.
import * as z from 'zod/mini'
import { TOOLS, type ToolChoice } from '../../../tasks/tools/index.ts'
import { nameOf } from '../../../tasks/tools/tool.ts'
import { type FieldInfo, show } from '../fields/field.ts'

const IDS = TOOLS.map(nameOf)
const MOST_TOOLS = 8

/** A list as text, which is how forms and links write it: `calculator,lookup`; '' = no tools. */
export const toolsText = (tools: readonly ToolChoice[]): string =>
  tools.map(({ id }) => id).join(',')

const listOf = (text: string): unknown => (text === '' ? [] : text.split(',').map((id) => ({ id })))

const isChoices = (value: unknown): value is ToolChoice[] =>
  Array.isArray(value) &&
  value.length <= MOST_TOOLS &&
  value.every(
    (one, i) =>
      typeof one === 'object' &&
      one !== null &&
      Object.keys(one).join() === 'id' &&
      IDS.includes(one.id) &&
      value.findIndex((other) => other.id === one.id) === i,
  )

const listed = (value: unknown): unknown => (typeof value === 'string' ? listOf(value) : value)

/** A list of `{id}`, or its text. */
export const toolsSchema = z.pipe(
  z.unknown().check(
    z.refine((value) => isChoices(listed(value)), {
      error: ({ input }) =>
        `expected a list of different tools, each as {id} with id ${IDS.map((id) => `'${id}'`).join(' or ')}, got ${show(input)}`,
    }),
  ),
  z.transform((value) => listed(value) as ToolChoice[]),
)

/** Every choice of a form: no tool, each by itself, and all of them. */
const CHOICES: readonly (readonly [text: string, label: string])[] = [
  ['', 'none'],
  ...IDS.map((id) => [id, id] as const),
  [IDS.join(','), IDS.join(' and ')],
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
