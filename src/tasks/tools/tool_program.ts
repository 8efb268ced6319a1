// Reads the file of a tool without running it: its schema, and how a vocabulary of characters calls
// it.

import { isObject } from '../../formats/json.ts'
import type { Tool, ToolSchema } from './tool.ts'

/** Marks of a program that names none: the calculator and the lookup have the other brackets. */
const USUAL_MARKS = ['(', ')'] as const
/** Ends answers of tools, so it cannot mark a call. */
const ANSWER_END = '>'
const PROPERTY_TYPES = ['string', 'integer', 'number', 'boolean']
const MOST_PROPERTIES = 16
const MOST_TEXT = 2000

/** Whether a program is meant as a tool. */
export const isToolProgram = (source: string): boolean => literalOf(source, 'tool_schema') !== ''

/** The schema and the marks of a program in JavaScript or Python. `tool_schema` is OpenAI's
 * function schema and `tool_marks` two characters, each written as plain JSON. Throws RangeError
 * with the name of the file where there is no schema, or one that cannot be used. */
export function readToolProgram(source: string, file: string): Pick<Tool, 'schema' | 'marks'> {
  const refuse = (why: string) => new RangeError(`${file}: ${why}`)
  const schema = literalValue(source, 'tool_schema', refuse)
  if (schema === undefined)
    throw refuse('expected a tool that says tool_schema = {…}, its schema as plain JSON')
  const why = schemaProblem(schema)
  if (why !== undefined) throw refuse(`tool_schema: ${why}`)
  const marks = literalValue(source, 'tool_marks', refuse) ?? USUAL_MARKS
  if (!isMarks(marks))
    throw refuse(
      `tool_marks: expected two different characters other than ${ANSWER_END}, got ${JSON.stringify(marks)}`,
    )
  const own = schema as ToolSchema
  const [argument = 'text'] = Object.keys(own.function.parameters.properties)
  return { schema: own, marks: { open: marks[0], close: marks[1], argument } }
}

/** What is written behind `name =` at the beginning of a line: a list or an object up to its last
 * bracket; '' where nothing is. */
function literalOf(source: string, name: string): string {
  const begin = new RegExp(
    `^(?:export\\s+)?(?:(?:const|let|var)\\s+)?${name}\\s*=\\s*(?=[[{])`,
    'm',
  )
  const found = begin.exec(source)
  if (!found) return ''
  const from = found.index + found[0].length
  let depth = 0
  // Brackets inside of texts do not count.
  for (const { 0: sign, index } of source.slice(from).matchAll(/"(?:[^"\\\n]|\\.)*"|[[\]{}]/g)) {
    if ('[{'.includes(sign)) depth++
    if (']}'.includes(sign) && --depth === 0) return source.slice(from, from + index + 1)
  }
  return source.slice(from)
}

function literalValue(source: string, name: string, refuse: (why: string) => Error): unknown {
  const text = literalOf(source, name)
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refuse(`${name}: expected plain JSON (${error instanceof Error ? error.message : error})`)
  }
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MOST_TEXT

/** Why a schema cannot be used; undefined where it can. */
function schemaProblem(schema: unknown): string | undefined {
  const own = isObject(schema) && schema.type === 'function' ? schema.function : undefined
  if (!isObject(own)) return 'expected {"type": "function", "function": {…}}'
  if (typeof own.name !== 'string' || !/^[A-Za-z_][\w-]{0,63}$/.test(own.name))
    return 'expected a function.name of letters, digits, _ and -'
  if (!isText(own.description)) return 'expected a function.description'
  const { parameters } = own
  if (!isObject(parameters) || parameters.type !== 'object' || !isObject(parameters.properties))
    return 'expected function.parameters with "type": "object" and properties'
  const { properties, required } = parameters
  const names = Object.keys(properties)
  if (names.length > MOST_PROPERTIES) return `expected at most ${MOST_PROPERTIES} properties`
  const wrong = names.find((name) => {
    const property = properties[name]
    return (
      !isObject(property) ||
      !PROPERTY_TYPES.includes(`${property.type}`) ||
      !isText(property.description)
    )
  })
  if (wrong !== undefined)
    return `properties.${wrong}: expected a type (${PROPERTY_TYPES.join(', ')}) and a description`
  if (!Array.isArray(required) || required.some((name) => !names.includes(name)))
    return 'expected function.parameters.required, a list of names of properties'
  return undefined
}

const isMarks = (value: unknown): value is readonly [string, string] =>
  Array.isArray(value) &&
  value.length === 2 &&
  value[0] !== value[1] &&
  value.every((mark) => typeof mark === 'string' && /^[^\s>]$/u.test(mark))
