// Keeps the board: charts that a person pinned to the top, by a name of their own each. It is a
// part of the address, so a link carries it.
import { createStore } from 'zustand/vanilla'
import { viewParts, withParts } from '../../document/links/view.ts'

/** More would be a page of their own. */
const MOST = 12
const LONGEST = 120

/** Names as the address holds them; what is no name is left out. */
function readBoard(hash: string): readonly string[] {
  const names = (viewParts(hash).board ?? '').split(',').map((name) => {
    try {
      return decodeURIComponent(name)
    } catch {
      return ''
    }
  })
  return [...new Set(names)].filter((name) => name !== '' && name.length <= LONGEST).slice(0, MOST)
}

export const boardStore = createStore<{ readonly pinned: readonly string[] }>(() => ({
  pinned: readBoard(globalThis.location?.hash ?? ''),
}))

/** The part of an address that holds the board; undefined where it is empty. */
export function boardPart(): string | undefined {
  const { pinned } = boardStore.getState()
  return pinned.length === 0 ? undefined : pinned.map(encodeURIComponent).join()
}

/** Pins a chart, or takes it off the board again; of too many the oldest makes room. */
export function togglePinned(name: string): void {
  const { pinned } = boardStore.getState()
  const others = pinned.filter((other) => other !== name)
  const next = others.length < pinned.length ? others : [...pinned, name].slice(-MOST)
  boardStore.setState({ pinned: next })
  const { pathname, search, hash } = location
  const parts = withParts(hash, { board: boardPart() })
  history.replaceState(history.state, '', `${pathname}${search}${parts}`)
}
