// Finds where in a text, or at which tokens, a searched text stands; and what stays open and
// selected when another text is sought, or the order changes.
import type { Marks } from '../../kit/fuzzy.ts'
import { bundleOf, drawnOf, type Found, find, type Opened, PAGE } from './inspect.ts'
import type { TokenPlace } from './view.ts'

/** Where a text holds what is searched for, whatever its case. */
export function matchesIn(text: string, query: string): Marks {
  const wanted = query.trim().toLowerCase()
  const all = text.toLowerCase()
  const found: [from: number, to: number][] = []
  // Lower case of some letters is longer: then places would be wrong.
  if (wanted === '' || all.length !== text.length) return found
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + wanted.length))
    found.push([at, at + wanted.length])
  return found
}

/** The tokens of which some letter belongs to what is searched for. */
export function foundTokens(tokens: readonly string[], query: string): ReadonlySet<number> {
  const found = new Set<number>()
  const marks = matchesIn(tokens.join(''), query)
  let from = 0
  for (const [t, token] of tokens.entries()) {
    const to = from + token.length
    if (marks.some((mark) => mark[0] < to && mark[1] > from)) found.add(t)
    from = to
  }
  return found
}

type Seen = Opened & { readonly pages: number; readonly cursor: TokenPlace }

/** The cursor on the response that is selected: an older one may lie in a group that is closed. */
export function selectedIn(found: Found, view: Seen): TokenPlace {
  const { at } = drawnOf(found, view)
  return at && at.place !== view.cursor.place ? { place: at.place, t: 0 } : view.cursor
}

/** The view with another text sought. What is selected as a search begins or ends stays so. */
export function seeking(found: Found, view: Seen, query: string): Partial<Seen> {
  const began = { query, openFound: undefined, pages: 1 }
  const [was, is] = [view.query.trim() !== '', query.trim() !== '']
  if (!was && is) return { ...began, cursor: selectedIn(found, view) }
  const { place } = view.cursor
  if (!was || is || drawnOf(found, view).at?.place !== place) return began
  const bundle = bundleOf(found, place)
  if (!bundle || view.open?.includes(bundle.key)) return began
  const wanted = { order: view.order, isInformativeOnly: false, query: '' }
  const all = find(bundle.whole, wanted).responses
  const pages = 1 + Math.floor(all.findIndex((one) => one.place === place) / PAGE)
  return { ...began, open: [...(view.open ?? []), bundle.key], pages }
}

/** What is open in another order: several groups stay, one gives way to the first. */
export function reopened({ open, openFound }: Opened): Partial<Seen> {
  const several = (keys: readonly string[] | undefined) =>
    keys && keys.length > 1 ? keys : undefined
  return { open: several(open), openFound: several(openFound), pages: 1 }
}
