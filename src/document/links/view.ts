// Reads and writes which part of the page is open, as the part of the address behind '#': never
// what is trained.
import { isCardHash } from './names.ts'

export const TABS = ['learn', 'inside', 'tokens', 'runs', 'study', 'gpu'] as const
export type Tab = (typeof TABS)[number]

const isTab = (text: unknown): text is Tab => TABS.some((tab) => tab === text)

/** Parts of a view hash, as in `#tab=inside&hide=settings`: the open tab; the open lesson; a course
 * (course/course_link.ts); a compact page for a frame; what is hidden, what is locked
 * (view_options.ts); the sender's curves (summary.ts); a study (study/study_link.ts),
 * or the id of one of the lab; the charts that are pinned to a board; the language. */
const PARTS = [
  'tab',
  'lesson',
  'course',
  'embed',
  'hide',
  'lock',
  'r',
  'study',
  'board',
  'lang',
] as const
export type ViewPart = (typeof PARTS)[number]

/** Longer hashes are not read at all. */
export const MAX_HASH_LENGTH = 8000
const FIRST = new RegExp(`^#(${PARTS.join('|')})=`)

/** Whether a hash says which part of the page is open; others hold a result card or a link. */
export const isViewHash = (hash: string): boolean => FIRST.test(hash)

/** The parts of a view hash as they are written there; of two with one name the first counts. */
export function viewParts(hash: string): Partial<Record<ViewPart, string>> {
  if (!isViewHash(hash) || hash.length > MAX_HASH_LENGTH) return {}
  const parts: Partial<Record<ViewPart, string>> = {}
  for (const pair of hash.slice(1).split('&')) {
    const at = pair.indexOf('=')
    const name = PARTS.find((part) => part === pair.slice(0, at))
    if (name) parts[name] ??= pair.slice(at + 1)
  }
  return parts
}

/** A hash with some parts set and, where undefined, taken out; '' for none. Any other kind of hash
 * counts as empty. */
export function withParts(
  hash: string,
  changes: Readonly<Partial<Record<ViewPart, string | undefined>>>,
): string {
  const parts = { ...viewParts(hash), ...changes }
  const pairs = PARTS.flatMap((name) => (parts[name] === undefined ? [] : `${name}=${parts[name]}`))
  return pairs.length === 0 ? '' : `#${pairs.join('&')}`
}

/** The tab of a hash: a result card lies in the last one, and the first is open where none is
 * named. */
export function tabOf(hash: string): Tab {
  if (isCardHash(hash)) return 'gpu'
  const { tab } = viewParts(hash)
  return isTab(tab) ? tab : TABS[0]
}

/** `hash` with this tab open, all else as it was; '' for the first tab alone. */
export const viewHash = (tab: Tab, hash = ''): string =>
  withParts(hash, { tab: tab === TABS[0] ? undefined : tab })
