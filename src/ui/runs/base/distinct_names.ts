// Says what tells the runs of a list apart, where their names do not: the name of a run stays what
// it is, whatever else the list holds.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { type RunName, runName } from '../../../record/run/names.ts'
import { seedOf } from '../../../record/run/record.ts'

export interface DistinctName {
  /** Its own name; of several runs of one name, all but the first begun have a number. */
  readonly own: string
  /** Its name without the seed; where another run of the list has the same, with what tells them
   * apart. */
  readonly seedless: string
  /** What not all runs of its method have: what fewest have first, the seed last. */
  readonly apart: readonly string[]
}

interface Named {
  readonly entry: RunEntry
  readonly own: RunName
}

const all = new WeakMap<readonly RunEntry[], ReadonlyMap<string, DistinctName>>()

function counts(words: readonly string[]): ReadonlyMap<string, number> {
  const counted = new Map<string, number>()
  for (const word of words) counted.set(word, (counted.get(word) ?? 0) + 1)
  return counted
}

/** What nobody knows comes first. */
const begunAt = ({ header }: RunEntry): number => header.started_at || 0

const isSaid = (word: string, name: string): boolean => `, ${name}, `.includes(`, ${word}, `)

/** What tells runs of one method apart that differ from one preset, by their ids. */
function* apartIn(group: readonly Named[]): Generator<[string, readonly string[]]> {
  const counted = counts(group.flatMap(({ own }) => own.words))
  const has = (word: string) => counted.get(word) ?? 0
  const hasSeeds = new Set(group.map(({ entry }) => seedOf(entry.header))).size > 1
  for (const { entry, own } of group) {
    const words = own.words
      .filter((word) => has(word) < group.length)
      .toSorted((a, b) => has(a) - has(b))
    yield [entry.id, hasSeeds ? [...words, `seed ${seedOf(entry.header)}`] : words]
  }
}

/** By id, names of which none is another's: runs that share one are numbered as they began, so that
 * no run gets another name when one is added. */
function numbered(runs: readonly Named[]): Map<string, string> {
  const seen = new Map<string, number>()
  const begun = runs.toSorted((a, b) => begunAt(a.entry) - begunAt(b.entry))
  return new Map(
    begun.map((run) => {
      const { name } = run.own
      const before = seen.get(name) ?? 0
      seen.set(name, before + 1)
      return [run.entry.id, before === 0 ? name : `${name} #${before + 1}`]
    }),
  )
}

/** Of what tells two groups of one name apart: their rows have the rest. */
const MOST_TOLD = 2

const withWords = (name: string, words: readonly string[]): string =>
  words.length > 0 ? `${name} (${words.join(', ')})` : name

/** What the table calls each run of a list, by its id, and what stands beside its name. Computed
 * once for one list. */
export function distinctNames(entries: readonly RunEntry[]): ReadonlyMap<string, DistinctName> {
  const known = all.get(entries)
  if (known) return known
  const runs = entries.map((entry) => ({ entry, own: runName(entry) }))
  const automatic = runs.filter(({ entry, own }) => own.isAutomatic && !entry.header.source)
  const groups = new Map<string, Named[]>()
  for (const run of automatic) {
    const key = `${run.own.method}\n${run.own.from}`
    groups.set(key, [...(groups.get(key) ?? []), run])
  }
  const apart = new Map([...groups.values()].flatMap((group) => [...apartIn(group)]))
  const called = counts(runs.map(({ own }) => own.name))
  const toldOf = ({ entry, own }: Named) =>
    (called.get(own.name) ?? 0) > 1
      ? (apart.get(entry.id) ?? []).filter((word) => !isSaid(word, own.name)).slice(0, MOST_TOLD)
      : []
  const numbers = numbered(runs)
  const names = new Map(
    runs.map((run): [string, DistinctName] => {
      const { id, header } = run.entry
      const { own } = run
      const seedless = toldOf(run).filter(
        (word) => word !== `seed ${seedOf(header)}` && !isSaid(word, own.seedless),
      )
      return [
        id,
        {
          own: numbers.get(id) ?? own.name,
          seedless: withWords(own.seedless, seedless),
          apart: apart.get(id) ?? [],
        },
      ]
    }),
  )
  all.set(entries, names)
  return names
}

/** Names that stand beside one another at the ends of their lines, each without what all of them
 * say: 'lr 0.005' for 'GRPO, lr 0.005' beside 'GRPO'. */
export function shortNames(names: readonly string[]): readonly string[] {
  if (names.length < 2) return names
  const parts = names.map((name) => name.split(', '))
  const isShared = (part: string) => parts.every((own) => own.includes(part))
  const short = parts.map((own) => own.filter((part) => !isShared(part)).join(', ') || own[0])
  return new Set(short).size === names.length ? short : names
}

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
