// Groups the lab's studies into a list that can be read: those that ask one thing under its words,
// each by what it alone has.
import gallery from '../../../page/study/gallery.json' with { type: 'json' }
import { isFound } from '../../kit/fuzzy.ts'

export type GalleryEntry = (typeof gallery)[number]

export const STUDIES_OF_LAB = gallery.length

/** One study of a family, by its short name; its question where the family has several. */
interface Member {
  readonly entry: GalleryEntry
  readonly name: string
  readonly question: string
}

/** Studies of one title; `question` is theirs in common, '' where each has its own. */
export interface Family {
  readonly title: string
  readonly question: string
  readonly members: readonly Member[]
}

/** The heading of those that are alone. */
export const ALONE = 'Other questions'

/** Headings of those that ask about one thing in words of their own, by what their files are called
 * (bench/studies). */
const TOPICS: readonly (readonly [title: string, ids: RegExp])[] = [
  ['From preferences', /^(preferences|dpo)/],
  ['Inner layers', /^inner/],
  ['From a teacher', /^teacher/],
  ['Reward models', /^(gold|overoptimisation)/],
  ['Stale samples', /^staleness/],
]
const topicOf = ({ id }: GalleryEntry): string =>
  TOPICS.find(([, ids]) => ids.test(id))?.[0] ?? ALONE
const isTopic = (title: string): boolean =>
  title === ALONE || TOPICS.some(([topic]) => topic === title)

/** 'Which layer learns? (Sort three digits)' is the one by 'Sort three digits' of 'Which layer
 * learns?'. */
function nameParts(name: string): readonly [family: string, own: string] {
  const [, family, own] = /^(.+\?) \(?(.+?)\)?$/.exec(name) ?? []
  return family === undefined ? ['', name] : [family, own]
}

/** Questions in common come first, then topics, then those that are alone. */
const placeOf = (title: string): number => (title === ALONE ? 2 : isTopic(title) ? 1 : 0)

/** 50 pairs come before 200. */
const byId = (a: GalleryEntry, b: GalleryEntry): number =>
  a.id.localeCompare(b.id, 'en', { numeric: true })

function familyOf(title: string, entries: readonly GalleryEntry[]): Family {
  const [{ question }] = entries
  const isShared = !isTopic(title) && entries.every((entry) => entry.question === question)
  return {
    title,
    question: isShared ? question : '',
    members: entries.toSorted(byId).map((entry) => ({
      entry,
      name: isTopic(title) ? entry.name : nameParts(entry.name)[1],
      question: isShared ? '' : entry.question,
    })),
  }
}

/** The studies in which every word of `query` is found, by family, the largest first. */
export function galleryFamilies(
  query: string,
  entries: readonly GalleryEntry[] = gallery,
): readonly Family[] {
  const titleOf = ({ name }: GalleryEntry) => nameParts(name)[0]
  const found = entries.filter(({ name, question, answer, arm }) =>
    isFound(query, [name, question, answer, arm]),
  )
  const titles = entries.map(titleOf)
  const isAlone = (title: string) => titles.indexOf(title) === titles.lastIndexOf(title)
  const families = new Map<string, GalleryEntry[]>()
  for (const entry of found) {
    const own = titleOf(entry)
    const title = own === '' || isAlone(own) ? topicOf(entry) : own
    families.set(title, [...(families.get(title) ?? []), entry])
  }
  return [...families]
    .sort(([a, one], [b, other]) => placeOf(a) - placeOf(b) || other.length - one.length)
    .map(([title, own]) => familyOf(title, own))
}
