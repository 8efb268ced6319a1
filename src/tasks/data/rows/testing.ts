// Makes rows of a file as tests write them.

import { readTable } from '../readers/readers.ts'
import { BadRows } from '../table/bad_rows.ts'
import type { Mapping } from '../table/data_file.ts'
import { mapRows } from './mapping.ts'
import { proposeMapping } from './propose.ts'

export const user = (content: unknown) => ({ role: 'user', content })
export const assistant = (content: unknown) => ({ role: 'assistant', content })
export const human = (value: string) => ({ from: 'human', value })
export const gpt = (value: string) => ({ from: 'gpt', value })

export async function made(rows: readonly unknown[], change: Partial<Mapping> = {}) {
  const bytes = new TextEncoder().encode(JSON.stringify(rows))
  const table = await readTable({ name: 'r.json', bytes })
  const mapping = { ...proposeMapping(table), ...change }
  const bad = new BadRows()
  const mapped = mapRows(table, mapping, 'r.json', { onBadRow: bad.add })
  return { table, mapping, bad, rows: mapped.flatMap((own) => own ?? []) }
}
