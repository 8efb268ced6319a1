// Names what was changed in a study when some of its runs were known.
import type { Study } from './study.ts'

/** What a study may be changed in without another answer being sought. */
const HARMLESS: readonly string[] = ['seeds', 'name']

/** What a reader should know of it, a sentence per change. */
export function changesOf(before: Study, after: Study, runs: number): string[] {
  if (runs === 0) return []
  const names = Object.keys({ ...before, ...after }) as (keyof Study)[]
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) =>
      HARMLESS.includes(name)
        ? `${name} of the study changed after ${runs} runs were known.`
        : `${name} of the study changed after ${runs} runs were known, so its result is exploratory.`,
    )
}
