// Finds where in a text, or at which tokens, a searched text stands.
import type { Marks } from '../../kit/fuzzy.ts'

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
