// Leads the browser's Back out of what lies over the page: one entry of the history stands for it.

/** What lies over the page: a dialog, or settings without room beside it. */
export interface Over {
  isOpen(): boolean
  close(): void
}

/** What lies there, the newest last; undefined before anything has. */
let overs: Set<Over> | undefined
/** While its entry is taken back: the address to show then, and one to go on to. */
let leaving: { address?: string; next?: string } | undefined

const isMarked = (): boolean => history.state?.over === true

/** The state of the present entry without the mark. */
const unmarked = () => ({ ...history.state, over: undefined })

function takeBack(address?: string): void {
  leaving = address === undefined ? {} : { address }
  history.back()
}

function settle(): void {
  if (leaving) return
  const isOver = [...(overs ?? [])].some((over) => over.isOpen())
  if (isOver === isMarked()) return
  if (!isOver) return takeBack(location.href)
  // Neither way between the two moves the page.
  history.scrollRestoration = 'manual'
  history.pushState({ ...history.state, over: true }, '')
}

/** One dialog may open from another: only what is open in the end counts. */
const settleSoon = () => setTimeout(settle)

/** Comes before what follows the address: these ways change nothing else. */
function onBack(event: Event): void {
  const left = leaving
  leaving = undefined
  // An entry that Forward has found again.
  if (!left && isMarked()) {
    event.stopImmediatePropagation()
    return takeBack()
  }
  const top = [...(overs ?? [])].filter((over) => over.isOpen()).at(-1)
  if (!left && !top) return
  event.stopImmediatePropagation()
  history.scrollRestoration = 'auto'
  if (left?.address) history.replaceState(history.state, '', left.address)
  if (left?.next) history.pushState(unmarked(), '', left.next)
  if (!left && top) {
    overs?.delete(top)
    top.close()
  }
  settleSoon()
}

/** Follows the browser's Back from now on. */
function follow(): Set<Over> {
  if (!overs) addEventListener('popstate', onBack, true)
  overs ??= new Set()
  return overs
}

/** Says that something lies over the page; returns what says that it no longer does. */
export function laidOver(over: Over): () => void {
  const all = follow()
  all.add(over)
  settleSoon()
  return () => {
    all.delete(over)
    settleSoon()
  }
}

/** A page that was loaded again with something open is loaded with nothing open. */
export function leaveReloaded(): void {
  if (!isMarked()) return
  follow()
  takeBack(location.href)
}

/** Goes on to an address, in an entry of its own: in that of what lies over the page if any. */
export function pushEntry(address: string, state: unknown = history.state): void {
  if (!isMarked()) return history.pushState(state, '', address)
  if (leaving) leaving.next = address
  history.replaceState({ ...Object(state), over: leaving ? true : undefined }, '', address)
  history.scrollRestoration = 'auto'
  settleSoon()
}
