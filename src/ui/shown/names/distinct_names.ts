// Names the runs of a list, each as no other: by its own name, which says more only where another
// run would have the same.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { bySettings } from '../../../record/compare/compare.ts'
import { type RunName, runName, withSeed } from '../../../record/run/names.ts'
import { seedOf } from '../../../record/run/record.ts'

/** What the table, figures and reports call a run. */
export interface DistinctName {
  /** No other run of the list has it. */
  readonly name: string
  /** That of the line which runs of several seeds are. */
  readonly seedless: string
}

interface Named extends Pick<RunEntry, 'header'> {
  readonly entry: RunEntry
  readonly own: RunName
}

/** Runs that differ in nothing but the seed, and what tells them from others of their name. */
interface Setting {
  readonly runs: readonly Named[]
  readonly told: readonly string[]
}

const all = new WeakMap<readonly RunEntry[], ReadonlyMap<string, DistinctName>>()

/** What nobody knows comes first. */
const begunAt = ({ header }: Pick<RunEntry, 'header'>): number => header.started_at || 0

const isSaid = (word: string, name: string): boolean => `, ${name}, `.includes(`, ${word}, `)

/** Somebody gave the run its name. */
const isGiven = ({ header, own }: Named): boolean =>
  !own.isAutomatic && !header.source && !header.study

/** 's1 and 2 more', of seeds that each have a name of their own. */
const givenNames = ([first, ...others]: readonly string[]): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`

/** What a name can say more, in the order in which it is said. Of an imported run no setting is
 * known. */
function moreWords({ header, own }: Named): readonly string[] {
  if (header.source) return []
  const origin = header.study ? `study “${header.study.name}”` : `from “${own.from}”`
  return [origin, ...own.words].filter((word) => !isSaid(word, own.seedless))
}

/** Tells settings of one name apart: for each of the others, a setting gets the first word that the
 * other lacks. A further setting can add words to a name, and never removes one. */
function toldApart(settings: readonly (readonly Named[])[]): Setting[] {
  const said = settings.map(([first]) => moreWords(first))
  const sets = said.map((words) => new Set(words))
  return settings.map((runs, i) => {
    const own = sets.map((other) => said[i].find((word) => !other.has(word)))
    return { runs, told: said[i].filter((word) => own.includes(word)) }
  })
}

function grouped<T>(list: readonly T[], keyOf: (one: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return [...groups.values()]
}

/** By what is named, names of which none is another's: those that share one are numbered in their
 * order, so that none gets another name when one is added. */
function numbered<T>(names: readonly (readonly [T, string])[]): Map<T, string> {
  const own = new Set(names.map(([, name]) => name))
  const taken = new Set<string>()
  return new Map(
    names.map(([key, name]) => {
      let free = name
      for (let n = 2; taken.has(free) || (free !== name && own.has(free)); n++)
        free = `${name} #${n}`
      taken.add(free)
      return [key, free]
    }),
  )
}

/** What a setting's runs are called, by their ids: with their seeds where these are several. */
function namesOf({ runs, told }: Setting): (readonly [string, DistinctName])[] {
  const hasSeeds = new Set(runs.map(({ header }) => seedOf(header))).size > 1
  return runs.map(({ entry: { id }, own, header }) => {
    const seedless = [own.seedless, ...told].join(', ')
    if (header.source) return [id, { name: own.name, seedless }]
    const saysSeed = hasSeeds || own.name !== own.seedless
    return [id, { name: saysSeed ? withSeed(seedless, seedOf(header)) : seedless, seedless }]
  })
}

/** Runs of the lab's own and those of studies do not change each other's names: the table may have
 * both or the former alone. */
const isOfStudy = ({ header }: Named): boolean => header.study !== undefined

/** What each run of a list is called, by its id. Computed once for one list. */
export function distinctNames(entries: readonly RunEntry[]): ReadonlyMap<string, DistinctName> {
  const known = all.get(entries)
  if (known) return known
  const runs = entries
    .map((entry): Named => ({ entry, header: entry.header, own: runName(entry) }))
    .toSorted((a, b) => Number(isOfStudy(a)) - Number(isOfStudy(b)) || begunAt(a) - begunAt(b))
  const alike = grouped(runs, (run) => `${isOfStudy(run)} ${run.own.seedless}`)
  const settings = alike.map((group) =>
    bySettings(group).flatMap((own) => grouped(own, ({ header }) => header.study?.id ?? '')),
  )
  const called = new Map(settings.flatMap(toldApart).flatMap(namesOf))
  const nameOf = ({ entry: { id }, own }: Named) => called.get(id) ?? own
  const names = numbered(runs.map((run) => [run, nameOf(run).name]))
  const lines = bySettings(runs)
  // A name that somebody gave one of its seeds is none of the line; what a study calls its arm is,
  // whatever else has the same settings.
  const lineName = (line: readonly Named[]) => {
    const first = line.find((run) => !isGiven(run))
    const given = [...new Set(line.map((run) => nameOf(run).seedless))]
    const name = first ? nameOf(first).seedless : givenNames(given)
    return line
      .filter(isOfStudy)
      .map((run) => nameOf(run).seedless)
      .reduce((name, arm) => (isSaid(arm, name) ? name : `${name}, ${arm}`), name)
  }
  const lineNames = numbered(lines.map((line) => [line, lineName(line)]))
  const distinct = new Map(
    lines.flatMap((line) =>
      line.map((run): [string, DistinctName] => [
        run.entry.id,
        {
          name: names.get(run) ?? run.own.name,
          seedless: lineNames.get(line) ?? run.own.seedless,
        },
      ]),
    ),
  )
  all.set(entries, distinct)
  return distinct
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
