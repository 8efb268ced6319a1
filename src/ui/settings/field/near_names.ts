// Finds the words that a mistyped query is nearest to.

/** Letters that are missing, too many, other ones, or two in the wrong order: optimal string
 * alignment. */
export function editDistance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = last[j - 1] + Number(a[i - 1] !== b[j - 1])
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwapped ? before[j - 2] + 1 : change
      row.push(Math.min(last[j] + 1, row[j - 1] + 1, change, swap))
    }
    before = last
    last = row
  }
  return last[b.length]
}

/** Of a word so long so many letters may be wrong; a short one is another word at once. */
const mostWrong = (word: string): number => (word.length < 4 ? 0 : word.length < 8 ? 1 : 2)

const WORDS = /[\p{L}\p{N}]+/gu

const partsOf = (text: string): string[] => text.toLowerCase().match(WORDS) ?? []

/** How far a word is from another, in letters. One that is only begun is like one that begins so,
 * after those that are whole. */
const distance = (word: string, other: string): number =>
  Math.min(editDistance(word, other), 0.5 + editDistance(word, other.slice(0, word.length)))

/** Words of a query that are looked at. */
const MOST_WORDS = 6

/** The words that a word is nearest to, of these first those that the most texts have; the word
 * itself where one begins so, none where none is near. */
function nearWords(word: string, counts: ReadonlyMap<string, number>): readonly string[] {
  const known = [...counts.keys()]
  if (known.some((other) => other.startsWith(word))) return [word]
  const far = known.map((other) => distance(word, other))
  const nearest = Math.min(...far)
  if (nearest >= mostWrong(word) + 1) return []
  return known
    .filter((_, i) => far[i] === nearest)
    .toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || a.length - b.length)
}

/** What a query that finds nothing may have meant: its words as the texts have them, likeliest
 * first, at most `most`. Empty where one of its words is like none. */
export function nearQueries(query: string, texts: readonly string[], most = 3): readonly string[] {
  const words = partsOf(query).slice(0, MOST_WORDS)
  const counts = new Map<string, number>()
  for (const text of texts)
    for (const part of new Set(partsOf(text))) counts.set(part, (counts.get(part) ?? 0) + 1)
  const near = words.map((word) => nearWords(word, counts))
  if (words.length === 0 || near.some((own) => own.length === 0)) return []
  const said = Array.from({ length: most }, (_, i) => {
    const left = near.map((own) => own[i] ?? own[0])
    return query.toLowerCase().replace(WORDS, (word) => left.shift() ?? word)
  })
  return [...new Set(said)].filter((own) => own !== query.toLowerCase())
}
