// Lists what the tab shows, and jumps there: the tab is many windows high.
import { useLayoutEffect, useRef, useState } from 'react'

interface Entry {
  readonly title: string
  readonly element: HTMLElement
  /** The head that it stands under; '' where it stands before the first. */
  readonly group: string
}

/** Everything in the tab that has a heading, by the heads of its groups. */
function entriesOf(panel: Element): Entry[] {
  let group = ''
  return [...panel.children].flatMap((element) => {
    if (element.matches('.inside-group')) group = element.textContent ?? ''
    const title = element.querySelector('h2')?.textContent
    return title && element instanceof HTMLElement ? [{ title, element, group }] : []
  })
}

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

function Row({ group, entries }: { readonly group: string; readonly entries: readonly Entry[] }) {
  return (
    <>
      <span className="soft">{group}</span>
      <div>
        {entries.map(({ title, element }) => (
          <button key={title} type="button" className="plain" onClick={() => jumpTo(element)}>
            {title}
          </button>
        ))}
      </div>
    </>
  )
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
      {[...Map.groupBy(entries, ({ group }) => group)].map(([group, own]) => (
        <Row key={group} group={group} entries={own} />
      ))}
    </nav>
  )
}
