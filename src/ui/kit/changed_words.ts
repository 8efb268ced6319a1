// Finds the words that two versions of a text do not share.

/** A run of words, with the spaces between them. */
export interface WordRun {
  readonly text: string
  readonly isChanged: boolean
}

/** Words and the spaces before them: joined, they are the text again. */
const wordsOf = (text: string): readonly string[] => text.match(/\s*\S+|\s+$/g) ?? []

/** Lengths of the longest common subsequences of the ends of two lists: at [i][j] of those from i
 * and from j. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i][j] =
        a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1])
  return lengths
}

/** Neighbours that are alike become one run. */
function runsOf(words: readonly string[], shared: ReadonlySet<number>): readonly WordRun[] {
  const runs: { text: string; isChanged: boolean }[] = []
  words.forEach((word, i) => {
    const isChanged = !shared.has(i)
    const last = runs.at(-1)
    if (last?.isChanged === isChanged) last.text += word
    else runs.push({ text: word, isChanged })
  })
  return runs
}

/** Places of words that both texts have, in order. */
function commonPlaces(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const lengths = commonLengths(a, b)
  const found: (readonly [number, number])[] = []
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.push([i++, j++])
    else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++
    else j++
  }
  return found
}

/** Both texts with what the other lacks marked: as few words as possible, in the order in which
 * they stand. A word alone between changes is marked with them: a common `the` says nothing. */
export function changedWords(
  before: string,
  after: string,
): { readonly before: readonly WordRun[]; readonly after: readonly WordRun[] } {
  const [a, b] = [wordsOf(before), wordsOf(after)]
  const common = commonPlaces(a, b)
  const isAt = (n: number, i: number, j: number) => common[n]?.[0] === i && common[n][1] === j
  const kept = common.filter(
    ([i, j], n) =>
      isAt(n - 1, i - 1, j - 1) ||
      isAt(n + 1, i + 1, j + 1) ||
      (i === 0 && j === 0) ||
      (i === a.length - 1 && j === b.length - 1),
  )
  return {
    before: runsOf(a, new Set(kept.map(([i]) => i))),
    after: runsOf(b, new Set(kept.map(([, j]) => j))),
  }
}
