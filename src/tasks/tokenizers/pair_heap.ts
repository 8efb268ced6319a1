// Keeps the most frequent pair first in a binary heap. Of pairs with equal counts the one with the
// smaller ids comes first.

export interface CountedPair {
  readonly left: number
  readonly right: number
  readonly count: number
  /** The words that hold it. */
  readonly words: ReadonlySet<number>
}

export class PairHeap {
  readonly #items: CountedPair[] = []

  push(item: CountedPair): void {
    const items = this.#items
    let at = items.length
    items.push(item)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(item, items[parent])) break
      items[at] = items[parent]
      at = parent
    }
    items[at] = item
  }

  /** The first pair, which is taken out; undefined when there is none. */
  pop(): CountedPair | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= items.length) break
      if (child + 1 < items.length && isBefore(items[child + 1], items[child])) child++
      if (!isBefore(items[child], last)) break
      items[at] = items[child]
      at = child
    }
    items[at] = last
    return first
  }
}

const isBefore = (a: CountedPair, b: CountedPair): boolean =>
  a.count !== b.count ? a.count > b.count : a.left !== b.left ? a.left < b.left : a.right < b.right
