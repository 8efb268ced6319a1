// Checks the names of a configuration that jobs are written for, with the types of their defaults,
// against the lab's own table of them: tests hold every argument of an exported job to that table.
import { basename } from 'node:path'
import { readJson } from '../../src/cli/input/input_file.ts'
import bupo_d3a85c6 from '../../src/jobs/verl_names/bupo_d3a85c6.json' with { type: 'json' }
import verl_0_7_1 from '../../src/jobs/verl_names/verl_v0.7.1.json' with { type: 'json' }
import verl_0_9_0 from '../../src/jobs/verl_names/verl_v0.9.0.json' with { type: 'json' }
import { CaseError, Fields } from '../base/fields.ts'
import type { Check } from '../base/report.ts'

/** Names by the type of their defaults, of each version; what no job could say is left out. */
const TABLES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  bupo_d3a85c6,
  'verl_v0.7.1': verl_0_7_1,
  'verl_v0.9.0': verl_0_9_0,
}

/** Whether parsed JSON lists the names of a configuration with their defaults. */
export const isNamesFile = (json: unknown): boolean =>
  typeof json === 'object' && json !== null && 'source' in json && 'keys' in json

/** The type that a job's value must have; any: the default is null, a reference to another value or
 * a value that is still to be given. */
function typeOf(value: unknown): string {
  if (value === undefined || value === '???') return 'any'
  if (typeof value === 'string' && value.includes('${')) return 'any'
  return Array.isArray(value) ? 'list' : typeof value
}

/** One check for each section of the lab's table: its names are there, with their types. Throws
 * CaseError where the lab has no table of that version. */
export async function* namesCase(file: string): AsyncGenerator<Check> {
  const version = basename(file, '.json')
  if (!Object.hasOwn(TABLES, version))
    throw new CaseError(
      `${version}: expected one of ${Object.keys(TABLES).join(', ')}, the versions that jobs are written for`,
    )
  const defaults = new Fields(readJson(file), version).fields('keys')
  const there = new Set(defaults.names())
  const known = Object.entries(TABLES[version]).flatMap(([type, names]) =>
    names.map((name) => ({ name, type, section: name.split('.')[0] })),
  )
  for (const section of new Set(known.map((one) => one.section))) {
    const own = known.filter((one) => one.section === section)
    const found = own.filter(({ name }) => there.has(name))
    const actual = Object.fromEntries(own.map(({ name, type }) => [name, type]))
    const expected = Object.fromEntries(
      found.map(({ name }) => [name, typeOf(defaults.raw(name))] as const),
    )
    const outputs = { types: { actual, expected, tolerance: 'exact' as const } }
    yield { case: `${version}/${section}`, on: 'driver', outputs }
  }
}
