// Names what was changed in a study when some of its runs were known.
import type { Study } from './study.ts'

/** What a study may be changed in without another answer being sought. */
const HARMLESS: readonly string[] = ['seeds', 'name']

const EXPLORATORY = 'so its result is exploratory.'

/** What a reader should know of it, a sentence per change. */
export function changesOf(before: Study, after: Study, runs: number): string[] {
  if (runs === 0) return []
  const names = Object.keys({ ...before, ...after }) as (keyof Study)[]
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => {
      const said = `The study’s ${name} changed after ${runs} runs were known`
      return HARMLESS.includes(name) ? `${said}.` : `${said}, ${EXPLORATORY}`
    })
}

/** What a verdict says of itself where something that it rests on was changed when runs were
 * known; '' where nothing was. */
export const exploratoryWords = (changes: readonly string[]): string =>
  changes.some((line) => line.endsWith(EXPLORATORY))
    ? 'Exploratory: the study was changed after some of its runs were known.'
    : ''
