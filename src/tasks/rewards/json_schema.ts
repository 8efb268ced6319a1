// Checks JSON that has a given form: a part of JSON Schema (draft 2020-12) that is small enough to
// be the same everywhere.
import { isObject, type JsonObject, jsonOf } from '../../formats/json.ts'
import type { RewardKind } from './reward.ts'

/** Whether a value has the form. */
type Check = (value: unknown) => boolean

const characters = (text: string) => [...text].length

const TYPES: Readonly<Record<string, Check>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => typeof value === 'number' && Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
}

/** Equality of JSON values; the order of an object's names does not count. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((one, i) => same(one, b[i]))
  if (!isObject(a)) return a === b
  const names = Object.keys(a)
  return (
    isObject(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]))
  )
}

/** A number that bounds `size` of a value of its type; other values pass. */
const bound =
  (size: (value: unknown) => number | undefined, holds: (size: number, limit: number) => boolean) =>
  (limit: unknown): Check => {
    if (typeof limit !== 'number') throw new RangeError('schema: expected a number as a limit')
    return (value) => {
      const own = size(value)
      return own === undefined || holds(own, limit)
    }
  }
const itself = (value: unknown) => (typeof value === 'number' ? value : undefined)
const lengthOf = (value: unknown) => (typeof value === 'string' ? characters(value) : undefined)
const itemsOf = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const atLeast = (size: number, limit: number) => size >= limit
const atMost = (size: number, limit: number) => size <= limit
const list = (value: unknown, keyword: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw new RangeError(`schema: ${keyword}: expected a list`)
  return value
}

/** What each keyword asks of a value. Those that only say something of the schema ask nothing. */
const KEYWORDS: Readonly<Record<string, (given: unknown, schema: JsonObject) => Check>> = {
  type: (given) => {
    const names = Array.isArray(given) ? given : [given]
    const unknown = names.find((name) => !Object.hasOwn(TYPES, `${name}`))
    if (unknown !== undefined) throw new RangeError(`schema: type: ${unknown} is no type of JSON`)
    return (value) => names.some((name) => TYPES[name](value))
  },
  enum: (given) => {
    const legal = list(given, 'enum')
    return (value) => legal.some((one) => same(one, value))
  },
  const: (given) => (value) => same(given, value),
  minimum: bound(itself, atLeast),
  maximum: bound(itself, atMost),
  minLength: bound(lengthOf, atLeast),
  maxLength: bound(lengthOf, atMost),
  minItems: bound(itemsOf, atLeast),
  maxItems: bound(itemsOf, atMost),
  items: (given) => {
    const check = compileSchema(given)
    return (value) => !Array.isArray(value) || value.every(check)
  },
  properties: (given) => {
    if (!isObject(given)) throw new RangeError('schema: properties: expected an object')
    const checks = Object.entries(given).map(([name, one]) => [name, compileSchema(one)] as const)
    return (value) =>
      !isObject(value) ||
      checks.every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]))
  },
  required: (given) => {
    const names = list(given, 'required').map(String)
    return (value) => !isObject(value) || names.every((name) => Object.hasOwn(value, name))
  },
  additionalProperties: (given, { properties = {} }) => {
    const check = compileSchema(given)
    const known = Object.keys(properties as JsonObject)
    return (value) =>
      !isObject(value) ||
      Object.keys(value).every((name) => known.includes(name) || check(value[name]))
  },
  ...Object.fromEntries(
    ['$schema', '$id', 'title', 'description', 'default', 'examples'].map((name) => [
      name,
      () => () => true,
    ]),
  ),
}

function compileSchema(schema: unknown): Check {
  if (typeof schema === 'boolean') return () => schema
  if (!isObject(schema)) throw new RangeError('schema: expected an object or true or false')
  const checks = Object.entries(schema).map(([name, given]) => {
    if (!Object.hasOwn(KEYWORDS, name))
      throw new RangeError(
        `schema: the keyword ${name} is not supported; these are: ${Object.keys(KEYWORDS).join(', ')}`,
      )
    return KEYWORDS[name](given, schema)
  })
  return (value) => checks.every((check) => check(value))
}

/** 1 where the response is JSON that has the form, else 0. */
export const json_schema: RewardKind = {
  id: 'json_schema',
  label: 'JSON schema',
  help: 'The response is JSON of a given form.',
  params: [
    {
      name: 'schema',
      label: 'Schema',
      help: 'A JSON schema of type, enum, const, properties, required, additionalProperties, items and limits of numbers, texts and lists. Other keywords are refused.',
      kind: 'text',
      default: '{"type": "object"}',
      max: 4000,
    },
  ],
  is_verifier: false,
  create({ schema }) {
    const given = jsonOf(`${schema}`)
    if (given === undefined) throw new RangeError('schema: expected JSON')
    const check = compileSchema(given)
    return ({ solution_str }) => {
      const value = jsonOf(solution_str)
      return value !== undefined && check(value) ? 1 : 0
    }
  },
}
