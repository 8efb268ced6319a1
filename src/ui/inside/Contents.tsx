// Lists what the tab shows, and jumps there: the tab is many windows high.
import { useLayoutEffect, useRef, useState } from 'react'

interface Entry {
  readonly title: string
  readonly element: HTMLElement
}

/** Everything in the tab that has a heading. */
const entriesOf = (panel: Element): Entry[] =>
  [...panel.children].flatMap((element) => {
    const title = element.querySelector('h2')?.textContent
    return title && element instanceof HTMLElement ? [{ title, element }] : []
  })

const isSame = (a: readonly Entry[], b: readonly Entry[]): boolean =>
  a.length === b.length &&
  a.every(({ title, element }, i) => title === b[i].title && element === b[i].element)

/** A fold is opened, and the next Tab goes on from there. */
function jumpTo(element: HTMLElement): void {
  if (element instanceof HTMLDetailsElement) element.open = true
  const heading = element.querySelector<HTMLElement>('summary, h2')
  if (heading?.tagName === 'H2') heading.tabIndex = -1
  element.scrollIntoView()
  heading?.focus({ preventScroll: true })
}

export function Contents() {
  const nav = useRef<HTMLElement>(null)
  const [entries, setEntries] = useState<readonly Entry[]>([])
  // Before the tab is painted, so that nothing below it moves.
  useLayoutEffect(() => {
    const panel = nav.current?.parentElement
    if (!panel) return
    // Cards come and go with the run.
    const update = () =>
      setEntries((before) => {
        const now = entriesOf(panel)
        return isSame(before, now) ? before : now
      })
    const observer = new MutationObserver(update)
    observer.observe(panel, { childList: true })
    update()
    return () => observer.disconnect()
  }, [])
  return (
    <nav ref={nav} className="inside-contents" aria-label="Contents of this tab">
      {entries.map(({ title, element }) => (
        <button key={title} type="button" className="plain" onClick={() => jumpTo(element)}>
          {title}
        </button>
      ))}
    </nav>
  )
}
