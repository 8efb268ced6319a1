// Names what was changed in a study when some of its runs were known.
import type { Study } from './study.ts'

/** What a study may be changed in without another answer being sought. */
const HARMLESS: readonly string[] = ['seeds', 'name']

/** How a change that matters ends; those of earlier visits are kept as they were said. */
const EXPLORATORY = /exploratory\.$/

/** What a reader should know of it, a sentence per change. */
export function changesOf(before: Study, after: Study, runs: number): string[] {
  if (runs === 0) return []
  const names = Object.keys({ ...before, ...after }) as (keyof Study)[]
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => {
      return HARMLESS.includes(name)
        ? `The study’s ${name} changed after ${runs} runs were known.`
        : `The study’s ${name} changed after ${runs} runs were known, so its result is exploratory.`
    })
}

/** What a verdict says of itself where something that it rests on was changed when runs were
 * known; '' where nothing was. */
export const exploratoryWords = (changes: readonly string[]): string =>
  changes.some((line) => EXPLORATORY.test(line))
    ? 'Exploratory: the study was changed after some of its runs were known.'
    : ''
