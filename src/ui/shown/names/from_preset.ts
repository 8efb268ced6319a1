// Says which preset a run is from, for where it is named on its own.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { runName } from '../../../record/run/names.ts'

/** 'from First run: an inner layer, then all'; '' where the name says it, or nobody knows. */
export function fromPreset(entry: RunEntry, name: string): string {
  const { source, study } = entry.header
  const { from } = runName(entry)
  return source || study || name.includes(from) ? '' : `from ${from}`
}
