// Writes right answers that are objects or lists as columns of Parquet: what verl hands to a reward
// is then what the file of the rows has.
import type { Json } from '../../tasks/task/json.ts'
import { JobError } from '../settings/job_error.ts'

/** An element of a Parquet schema, as hyparquet-writer takes it. */
export interface Element {
  readonly name: string
  readonly type?: 'BYTE_ARRAY' | 'INT64' | 'DOUBLE' | 'BOOLEAN'
  readonly converted_type?: 'UTF8' | 'LIST'
  readonly repetition_type: 'OPTIONAL' | 'REPEATED'
  readonly num_children?: number
}

/** The schema of one column for all of some values. Throws JobError where one column cannot hold
 * them. */
export function truthSchema(
  name: string,
  values: readonly Json[],
  path = name,
): readonly Element[] {
  const there = values.filter((value) => value !== null)
  const kinds = [...new Set(there.map(kindOf))]
  const own = { name, repetition_type: 'OPTIONAL' } as const
  const [kind = 'text'] = kinds
  if (kinds.length > 1)
    throw new JobError(
      `${path}: expected values of one kind in all rows, as a column of Parquet has, found ${kinds.join(' and ')}; write the right answers as texts`,
    )
  if (kind === 'text') return [{ ...own, type: 'BYTE_ARRAY', converted_type: 'UTF8' }]
  if (kind === 'true or false') return [{ ...own, type: 'BOOLEAN' }]
  if (kind === 'a number')
    return [{ ...own, type: there.every(Number.isSafeInteger) ? 'INT64' : 'DOUBLE' }]
  if (kind === 'a list') {
    const items = there.flatMap((value) => value as readonly Json[])
    return [
      { ...own, num_children: 1, converted_type: 'LIST' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      ...truthSchema('element', items, `${path}[]`),
    ]
  }
  const objects = there as readonly { readonly [name: string]: Json }[]
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))]
  if (names.length === 0)
    throw new JobError(
      `${path}: expected an object with fields, found an empty one; Parquet has none`,
    )
  return [
    { ...own, num_children: names.length },
    ...names.flatMap((field) =>
      truthSchema(
        field,
        objects.map((one) => (Object.hasOwn(one, field) ? one[field] : null)),
        `${path}.${field}`,
      ),
    ),
  ]
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'a number'
  return typeof value === 'boolean' ? 'true or false' : 'an object'
}

/** A value as hyparquet-writer takes it: whole numbers of a column of whole numbers are BigInts. */
export function truthValue(value: Json, schema: readonly Element[]): unknown {
  const [{ type, converted_type }, ...inner] = schema
  if (value === null) return null
  if (type === 'INT64') return BigInt(value as number)
  if (type !== undefined) return value
  if (converted_type === 'LIST')
    return (value as readonly Json[]).map((item) => truthValue(item, inner.slice(1)))
  const object = value as { readonly [name: string]: Json }
  return Object.fromEntries(
    fieldsOf(inner).map((field) => [
      field[0].name,
      truthValue(Object.hasOwn(object, field[0].name) ? object[field[0].name] : null, field),
    ]),
  )
}

/** Elements of a schema, each with all that lies below it. */
function fieldsOf(schema: readonly Element[]): (readonly Element[])[] {
  const fields: Element[][] = []
  for (let at = 0; at < schema.length; ) {
    const end = endOf(schema, at)
    fields.push(schema.slice(at, end))
    at = end
  }
  return fields
}

function endOf(schema: readonly Element[], start: number): number {
  let end = start + 1
  for (let child = 0; child < (schema[start].num_children ?? 0); child++) end = endOf(schema, end)
  return end
}
