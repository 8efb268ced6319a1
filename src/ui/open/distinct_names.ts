// Names the runs of a list by what tells them apart: what all runs of one method have in common is
// said once beside them, and not in every name.
import { libraryStore, type RunEntry, shownRuns } from '../../page/runs/library/library_store.ts'
import { joinedName, type RunName, runName } from '../../record/run/names.ts'
import { seedOf } from '../../record/run/record.ts'

export interface DistinctName {
  readonly name: string
  /** The same without the seed. */
  readonly seedless: string
  /** What it has in common with the others of its method, beside the preset. */
  readonly shared: readonly string[]
}

const NOTHING: readonly string[] = []
const all = new WeakMap<readonly RunEntry[], ReadonlyMap<string, DistinctName>>()

interface Named {
  readonly entry: RunEntry
  readonly own: RunName
}

/** Words beside the method, and letters: a list has room for two lines of a name, the seed among
 * them. */
const MAX_WORDS = 2
const MAX_LETTERS = 64

/** Runs of one method that differ from one preset. What fewest of them have comes first in a name,
 * so that it tells them apart where its end is cut. */
function* namesOfGroup(group: readonly Named[]): Generator<[string, DistinctName]> {
  const [first] = group
  const counts = new Map<string, number>()
  for (const { own } of group)
    for (const word of own.words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const shared = first.own.words.filter((word) => counts.get(word) === group.length)
  const hasSeeds = new Set(group.map(({ entry }) => seedOf(entry.header))).size > 1
  for (const { entry, own } of group) {
    const words = own.words
      .filter((word) => !shared.includes(word))
      .toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0))
    const seed = hasSeeds ? `, seed ${seedOf(entry.header)}` : ''
    const long = joinedName([own.method, ...words], MAX_WORDS)
    const isLong = long.length + seed.length > MAX_LETTERS
    const seedless = isLong ? joinedName([own.method, ...words], 1) : long
    const name = `${seedless}${seed}`
    yield [entry.id, { name, seedless, shared }]
  }
}

/** A name for each run of a list, by its id. Names that a person gave stay as they are, and a run
 * that is alone with its method has its automatic name. Computed once for one list. */
export function distinctNames(entries: readonly RunEntry[]): ReadonlyMap<string, DistinctName> {
  const known = all.get(entries)
  if (known) return known
  const names = new Map<string, DistinctName>()
  const groups = new Map<string, Named[]>()
  for (const entry of entries) {
    const own = runName(entry)
    names.set(entry.id, { name: own.name, seedless: own.seedless, shared: NOTHING })
    if (!own.isAutomatic || entry.header.source) continue
    const key = `${own.method}\n${own.from}`
    groups.set(key, [...(groups.get(key) ?? []), { entry, own }])
  }
  for (const group of groups.values())
    if (group.length > 1) for (const [id, name] of namesOfGroup(group)) names.set(id, name)
  all.set(entries, names)
  return names
}

/** What the list of runs calls a run; every part of the page calls it so. */
export const nameInList = (entry: RunEntry): string =>
  distinctNames(shownRuns(libraryStore.getState())).get(entry.id)?.name ?? runName(entry).name

const partsOf = (name: string): string[] => name.split(/[,:] /)

/** What a name says that another one beside it does not: 'Two-skills addition, BuPO' beside 'BuPO,
 * layer 2 first' is 'Two-skills addition'. */
export function unsaidWords(name: string, said: string): string {
  const known = partsOf(said)
  const parts = partsOf(name)
  return parts.some((part) => known.includes(part))
    ? parts.filter((part) => !known.includes(part)).join(', ')
    : name
}
