// Cuts a list that scrolls where a row ends, and counts the rows below the cut.
import { type RefObject, useEffect, useState } from 'react'

/** The last end of a row within `room`; undefined where a cut there would waste half of it. Ends
 * count from the top of the list. */
export function wholeCut(ends: readonly number[], room: number): number | undefined {
  const cut = Math.max(0, ...ends.filter((end) => end <= room))
  return cut > room / 2 ? Math.ceil(cut) : undefined
}

/** Rows whose end is not in sight; half a pixel is none. */
export const rowsBelow = (ends: readonly number[], seen: number): number =>
  ends.filter((end) => end > seen + 1).length

const endsOf = (list: HTMLElement, rows: string): number[] => {
  const top = list.getBoundingClientRect().top - list.scrollTop
  return [...list.querySelectorAll(rows)].map((row) => row.getBoundingClientRect().bottom - top)
}

/** Makes a list as high as whole rows fill it, after each drawing and where its place changes.
 * `rows` and `counted` are selectors: where it may be cut, and what is counted. Returns how many
 * lie below what is seen. */
export function useWholeRows(
  list: RefObject<HTMLElement | null>,
  rows: string,
  counted: string,
): number {
  const [below, setBelow] = useState(0)
  useEffect(() => {
    const own = list.current
    if (!own) return setBelow(0)
    const count = () => setBelow(rowsBelow(endsOf(own, counted), own.scrollTop + own.clientHeight))
    const resize = () => {
      // As high as its style says.
      own.style.maxHeight = ''
      const room = own.clientHeight
      const cut = own.scrollHeight > room + 1 ? wholeCut(endsOf(own, rows), room) : undefined
      if (cut !== undefined) own.style.maxHeight = `${cut}px`
      count()
    }
    resize()
    // What stands beside it may come later, and make it higher.
    const observer = new ResizeObserver(resize)
    observer.observe(own.parentElement ?? own)
    own.addEventListener('scroll', count, { passive: true })
    return () => {
      observer.disconnect()
      own.removeEventListener('scroll', count)
    }
  })
  return below
}
