// Names runs that stand side by side by what tells them apart, and by nothing that all of them
// share: 'lr 0.001' and 'lr 0.003', not 'GRPO, lr 0.001' and 'GRPO'.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { bySettings } from '../../../record/compare/compare.ts'
import { differenceWords } from '../../../record/run/difference_words.ts'
import { joinedName, runName } from '../../../record/run/names.ts'
import { seedOf } from '../../../record/run/record.ts'
import { distinctNames } from './distinct_names.ts'

export interface ComparedName {
  /** No other run of the comparison has it. */
  readonly name: string
  /** That of the line which runs of several seeds are. */
  readonly seedless: string
}

/** A setting among the compared ones. */
interface Setting {
  /** Its method, or the name that somebody gave it, or a study its arm. */
  readonly head: string
  /** Its runs are told apart by their seeds. */
  readonly hasSeed: boolean
  /** The head and what other settings say otherwise: what fewest have, and what matters, first. */
  readonly words: readonly string[]
}

/** Words of a name; the table of what differs has the rest. */
const MOST_WORDS = 3

/** Somebody gave the run its name. */
const isGiven = (entry: RunEntry): boolean =>
  !runName(entry).isAutomatic && !entry.header.source && !entry.header.study

const isTheSame = (values: readonly unknown[]): boolean => new Set(values).size < 2

/** How many of the lists have a word. */
function counted(lists: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const list of lists) for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function settingsOf(runs: readonly RunEntry[]): Setting[] {
  const named = runs.map((entry) => ({ entry, own: runName(entry) }))
  const known = runs.filter(({ header }) => !header.source)
  const found = named.map(({ entry, own }) => {
    const { document, source, study } = entry.header
    const isAutomatic = own.isAutomatic && !source
    const head = isAutomatic ? own.method : own.seedless
    // A given name tells a run apart, but from those of the same name.
    const isAlone =
      !isAutomatic && named.every((one) => one.own === own || one.own.seedless !== head)
    const others = source || isAlone ? [] : known
    const words = others
      .flatMap((other) => differenceWords(document, other.header.document))
      .filter((word) => word !== `seed ${seedOf(entry.header)}`)
    return {
      head,
      hasSeed: isAutomatic || study !== undefined,
      words: [...new Set([head, ...words])],
      isGiven: !isAutomatic,
      isAlone,
    }
  })
  const told = found.filter(({ isAlone }) => !isAlone)
  const counts = counted(told.map(({ words }) => words))
  const isShared = (word: string) => told.length > 1 && counts.get(word) === told.length
  return found.map(({ isAlone: _isAlone, isGiven: isName, words, ...setting }) => ({
    ...setting,
    // A name that was given to some is not that of the others. What fewest have is first, as the
    // ends of names are cut.
    words: words
      .filter(
        (word) => !isShared(word) || (isName && word === setting.head && told.length < runs.length),
      )
      .toSorted((a, b) => (isName ? 0 : (counts.get(a) ?? 0) - (counts.get(b) ?? 0))),
  }))
}

/** Where names would be long, what most runs have is not said: of those that have it not, each says
 * what it has. */
function withoutUsual(settings: readonly Setting[]): readonly Setting[] {
  if (settings.every(({ words }) => words.length <= MOST_WORDS)) return settings
  const counts = counted(settings.map(({ words }) => words))
  const isUsual = (word: string) => (counts.get(word) ?? 0) > settings.length / 2
  return settings.map((setting) => ({
    ...setting,
    words: setting.words.filter((word) => !isUsual(word)),
  }))
}

/** As short as it can be while no two are the same, but for settings that nothing tells apart. */
function namesOf(settings: readonly Setting[]): readonly string[] {
  const longest = Math.max(0, ...settings.map(({ words }) => words.length))
  const joined = (most: number) =>
    settings.map(({ head, words }) => joinedName(words.length > 0 ? words : [head], most - 1))
  const apart = new Set(joined(longest + 1)).size
  let most = MOST_WORDS
  while (new Set(joined(most)).size < apart) most++
  return joined(most)
}

/** With the numbers that the table has beside runs of one name; then in the order of the list. */
function numbered(names: readonly string[], inTable: readonly string[]): readonly string[] {
  const isTwice = (all: readonly string[], name: string) => all.filter((x) => x === name).length > 1
  const said = names.map((name, i) =>
    isTwice(names, name) ? `${name}${/ #\d+$/.exec(inTable[i])?.[0] ?? ''}` : name,
  )
  return said.map((name, i) => {
    const before = said.slice(0, i).filter((other) => other === name).length
    return before === 0 ? name : `${name} #${before + 1}`
  })
}

/** What figures call each of the compared runs, by its id. `all`: the runs of the table, whose own
 * name a run has that is alone. */
export function comparedNames(
  runs: readonly RunEntry[],
  all: readonly RunEntry[],
): ReadonlyMap<string, ComparedName> {
  const table = distinctNames(all)
  const inTable = (entry: RunEntry) => table.get(entry.id)?.own ?? runName(entry).name
  const groups = bySettings(runs)
  const [first] = runs
  if (!first) return new Map()
  // A name that somebody gave one of its seeds is none of the line.
  const firsts = groups.map((group) => group.find((entry) => !isGiven(entry)) ?? group[0])
  const settings = withoutUsual(settingsOf(firsts))
  const isOne = groups.length === 1
  const lines = isOne
    ? [runs.length > 1 ? runName(first).seedless : inTable(first)]
    : numbered(namesOf(settings), firsts.map(inTable))
  const hasSeeds = !isTheSame(runs.map(({ header }) => seedOf(header)))
  const named = groups.flatMap((group, i) =>
    group.map((entry) => {
      const own = runName(entry).name
      if (isGiven(entry) && runs.every((other) => other === entry || runName(other).name !== own))
        return { entry, seedless: lines[i], name: own }
      const isSaid = hasSeeds && (settings[i].hasSeed || group.length > 1)
      const seed = `seed ${seedOf(entry.header)}`
      const name = isSaid ? (isOne ? seed : `${lines[i]}, ${seed}`) : lines[i]
      return { entry, seedless: lines[i], name }
    }),
  )
  const names = numbered(
    named.map(({ name }) => name),
    named.map(({ entry }) => inTable(entry)),
  )
  return new Map(
    named.map(({ entry, seedless }, i) => [entry.id, { name: names[i], seedless }] as const),
  )
}
