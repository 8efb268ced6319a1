// Finds the names that a mistyped query is nearest to.

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

const partsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** How far a query is from the words of a name, in letters; undefined where one of its words is
 * like none of them. A word that is only begun is like one that begins so. */
function distanceTo(query: readonly string[], name: readonly string[]): number | undefined {
  let all = 0
  for (const word of query) {
    const nearest = Math.min(
      ...name.map((part) =>
        part.startsWith(word)
          ? 0
          : Math.min(editDistance(word, part), editDistance(word, part.slice(0, word.length))),
      ),
    )
    if (nearest > mostWrong(word)) return undefined
    all += nearest
  }
  return all
}

/** What is searched: how it is shown, and everything that it is called. */
interface Named {
  readonly label: string
  readonly names: readonly string[]
}

/** Words of a query that is looked at. */
const MOST_WORDS = 6

/** The labels that a query is nearest to, nearest first, each once, at most `most`. */
export function nearLabels(query: string, all: readonly Named[], most = 3): readonly string[] {
  const words = partsOf(query).slice(0, MOST_WORDS)
  if (words.length === 0) return []
  const found = all.flatMap(({ label, names }) => {
    const far = distanceTo(words, partsOf(names.join(' ')))
    return far === undefined ? [] : [{ label, far }]
  })
  const sorted = found.toSorted((a, b) => a.far - b.far || a.label.length - b.label.length)
  return [...new Set(sorted.map(({ label }) => label))].slice(0, most)
}
