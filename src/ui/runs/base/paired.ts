// Compares runs of one setting with those of another, seed by seed: for the tables of the page and
// for a report.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { type PairedDifference, pairedBySeed } from '../../../record/compare/compare.ts'
import { seedOf } from '../../../record/run/record.ts'

type Runs = readonly RunEntry[]
type NumberOf = (entry: RunEntry) => number | undefined

/** Of the runs whose seed is known. */
const seedValues = (entries: Runs, numberOf: NumberOf) =>
  entries.flatMap((entry) => {
    const seed = seedOf(entry.header)
    return seed === undefined ? [] : [{ seed, value: numberOf(entry) }]
  })

/** The numbers of `entries` minus those of `first`, for every seed that both have. */
export const pairedRuns = (first: Runs, entries: Runs, numberOf: NumberOf): PairedDifference =>
  pairedBySeed(seedValues(first, numberOf), seedValues(entries, numberOf))

/** Whether any of the others has a seed of the first. */
export function haveSeedInCommon(first: Runs, others: readonly Runs[]): boolean {
  const seeds = new Set(first.flatMap(({ header }) => seedOf(header) ?? []))
  return others.some((own) => own.some(({ header }) => seeds.has(seedOf(header) ?? Number.NaN)))
}
