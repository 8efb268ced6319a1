// Finds the column of a table or of JSON lines that counts the steps, and writes objects in objects
// as names with slashes.
import { isObject } from '../../../formats/json.ts'
import { numberOf } from '../base/lines.ts'
import { pythonNumber } from './python_literal.ts'

/** Names of such a column, the first that is there counts. Capitals make no difference. */
const STEP_COLUMNS: readonly string[] = [
  'step',
  'global_step',
  '_step',
  'iteration',
  'trainer/global_step',
  'training/global_step',
  'train/global_step',
  'global step',
  'current_steps',
  'training_step',
  'train_step',
  'steps',
  'iter',
  'update',
  'timestep',
  'timesteps',
]

/** The column of the steps among those of a row; undefined where there is none. */
export function stepColumn(names: readonly string[]): string | undefined {
  const ways = names.map((name) => name.trim().toLowerCase())
  for (const known of STEP_COLUMNS) {
    const at = ways.indexOf(known)
    if (at >= 0) return names[at]
  }
  return undefined
}

/** How many metrics a log has: a column that counts steps is none. */
export const metricCount = (names: Iterable<string>): number =>
  [...names].filter((name) => stepColumn([name]) === undefined).length

/** What was looked for, for a sentence. */
export const lookedForSteps = (names: readonly string[]): string =>
  `No column counts the steps. Looked for ${STEP_COLUMNS.join(', ')}; found ${names.length > 0 ? names.slice(0, 12).join(', ') : 'no columns'}${names.length > 12 ? ` and ${names.length - 12} more` : ''}.`

/** A step as a number or as a text of one. */
export function stepOf(value: unknown): number | undefined {
  const number = typeof value === 'string' ? pythonNumber(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined
}

/** Values of an object by name; those of objects in it as `outer/inner`. */
export function flattened(
  record: Readonly<Record<string, unknown>>,
  before = '',
): [name: string, value: unknown][] {
  return Object.entries(record).flatMap(([name, value]) =>
    isObject(value) && Object.keys(value).length > 0
      ? flattened(value, `${before}${name}/`)
      : [[before + name, value] as [string, unknown]],
  )
}

/** A number of a log: texts of numbers too; undefined for what is none, such as null. */
export const loggedNumber = (value: unknown): number | undefined =>
  typeof value === 'string' ? pythonNumber(value) : numberOf(value)
