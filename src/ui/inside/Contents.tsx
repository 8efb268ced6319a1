// Lists the questions that the tab answers, and jumps to each: the tab is many windows high.
import { useLayoutEffect, useRef, useState } from 'react'

/** The heads of the groups that have a figure: cards come and go with the run. */
const headsOf = (panel: Element): HTMLElement[] =>
  [...panel.querySelectorAll<HTMLElement>(':scope > .inside-group')].filter((head) =>
    head.nextElementSibling?.matches('.figure'),
  )

const isSame = (a: readonly HTMLElement[], b: readonly HTMLElement[]): boolean =>
  a.length === b.length && a.every((head, i) => head === b[i])

/** Moves the focus too, so that the next Tab continues from there. */
function jumpTo(head: HTMLElement): void {
  head.tabIndex = -1
  head.scrollIntoView()
  head.focus({ preventScroll: true })
}

export function Contents() {
  const nav = useRef<HTMLElement>(null)
  const [heads, setHeads] = useState<readonly HTMLElement[]>([])
  // Before the tab is painted, so that nothing below it moves.
  useLayoutEffect(() => {
    const panel = nav.current?.parentElement
    if (!panel) return
    const update = () =>
      setHeads((before) => {
        const now = headsOf(panel)
        return isSame(before, now) ? before : now
      })
    const observer = new MutationObserver(update)
    observer.observe(panel, { childList: true })
    update()
    return () => observer.disconnect()
  }, [])
  return (
    <nav ref={nav} className="inside-contents" aria-label="Contents of this tab">
      {heads.map((head) => (
        <button
          key={head.dataset.question}
          type="button"
          className="plain"
          onClick={() => jumpTo(head)}
        >
          {head.dataset.question}
        </button>
      ))}
    </nav>
  )
}
