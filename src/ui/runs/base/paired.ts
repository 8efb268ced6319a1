// Compares runs of one setting with those of another, seed by seed: for the tables of the page and
// for a report.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { type PairedDifference, pairedBySeed } from '../../../record/compare/compare.ts'
import { seedOf } from '../../../record/run/record.ts'
import { knownTask } from './ends.ts'

type Runs = readonly RunEntry[]
type NumberOf = (entry: RunEntry) => number | undefined

/** Of the runs whose seed is known. */
const seedValues = (entries: Runs, numberOf: NumberOf) =>
  entries.flatMap((entry) => {
    const seed = seedOf(entry.header)
    return seed === undefined ? [] : [{ seed, value: numberOf(entry) }]
  })

/** Whether all of them are known to learn one task: a seed draws the same problems for those
 * alone. */
export function isOneKnownTask(entries: Runs): boolean {
  const [task, ...others] = new Set(entries.map(({ header }) => knownTask(header)))
  return task !== undefined && others.length === 0
}

/** The numbers of `entries` minus those of `first`, for every seed that both have. */
export const pairedRuns = (first: Runs, entries: Runs, numberOf: NumberOf): PairedDifference =>
  isOneKnownTask([...first, ...entries])
    ? pairedBySeed(seedValues(first, numberOf), seedValues(entries, numberOf))
    : pairedBySeed([], [])

/** Whether any of the others can be paired with the first by a seed that both have. */
export function haveSeedInCommon(first: Runs, others: readonly Runs[]): boolean {
  const seeds = new Set(first.flatMap(({ header }) => seedOf(header) ?? []))
  return others.some(
    (own) =>
      isOneKnownTask([...first, ...own]) &&
      own.some(({ header }) => seeds.has(seedOf(header) ?? Number.NaN)),
  )
}
