// Cuts a list that scrolls where a row ends, and counts the rows below the cut.
import { type RefObject, useEffect, useState } from 'react'
import { useMedia } from '../kit/use_media.ts'

/** The last end of a row within `room`; undefined where a cut there would waste half of it. Ends
 * count from the top of the list. */
export function wholeCut(ends: readonly number[], room: number): number | undefined {
  const cut = Math.max(0, ...ends.filter((end) => end <= room))
  return cut > room / 2 ? Math.ceil(cut) : undefined
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Rows of which nothing is in sight, and where all begin in sight, whether the last one ends below
 * it; half a pixel is nothing. */
export const unseen = (rows: readonly Span[], seen: number) => {
  const below = rows.filter(({ start }) => start > seen - 1).length
  return { below, isCut: below === 0 && rows.some(({ end }) => end > seen + 1) }
}

/** How high a list must be for all that is seen down to `seen` to be whole. */
export const wholeEnd = (ends: readonly number[], seen: number): number =>
  Math.ceil(ends.find((end) => end >= seen - 1) ?? seen)

const spansOf = (list: HTMLElement, rows: string): Span[] => {
  const top = list.getBoundingClientRect().top - list.scrollTop
  return [...list.querySelectorAll(rows)].map((row) => {
    const box = row.getBoundingClientRect()
    return { start: box.top - top, end: box.bottom - top }
  })
}

const endsOf = (list: HTMLElement, rows: string): number[] =>
  spansOf(list, rows).map(({ end }) => end)

/** A list that scrolls would hold a finger that means the page: there it has a button instead. */
const PHONE = '(max-width: 899px)'

interface Below {
  /** How many rows lie wholly below what is seen. */
  readonly below: number
  /** None does, and the last one is not seen to its end. */
  readonly isCut: boolean
  /** Shows as much again; undefined where the list scrolls. */
  readonly more: (() => void) | undefined
}

/** Makes a list as high as whole rows fill it, after each drawing and where its place changes.
 * `rows` and `counted` are selectors: where it may be cut, and what is counted. A list that is long
 * would hold a mouse's wheel, too: with `isLong` it has the button in every window. */
export function useWholeRows(
  list: RefObject<HTMLElement | null>,
  rows: string,
  counted: string,
  isLong = false,
): Below {
  const [below, setBelow] = useState(0)
  const [isCut, setCut] = useState(false)
  /** How many times the height of its style it has. */
  const [times, setTimes] = useState(1)
  const hasButton = useMedia(PHONE) || isLong
  useEffect(() => {
    const own = list.current
    const count = () => {
      const found = own
        ? unseen(spansOf(own, counted), own.scrollTop + own.clientHeight)
        : { below: 0, isCut: false }
      setBelow(found.below)
      setCut(found.isCut)
    }
    if (!own) return count()
    const resize = () => {
      // As high as its style says, for a moment: what is seen stays.
      const { scrollTop } = own
      own.style.maxHeight = ''
      const room = own.clientHeight * (hasButton ? times : 1)
      const cut = own.scrollHeight > room + 1 ? wholeCut(endsOf(own, rows), room) : undefined
      if (cut !== undefined) own.style.maxHeight = `${cut}px`
      else if (hasButton && times > 1) own.style.maxHeight = 'none'
      own.scrollTop = scrollTop
      count()
    }
    const scrolled = () => {
      if (!hasButton || own.scrollTop === 0) return count()
      // What is wanted is below the cut: the list becomes as high, and the page scrolls instead.
      const hidden = own.scrollTop
      const end = wholeEnd(endsOf(own, rows), hidden + own.clientHeight)
      own.style.maxHeight = ''
      setTimes((end + 1) / own.clientHeight)
      own.style.maxHeight = `${end}px`
      own.scrollTop = 0
      scrollBy({ top: hidden, behavior: 'instant' })
    }
    resize()
    // What stands beside it may come later, and make it higher.
    const observer = new ResizeObserver(resize)
    observer.observe(own.parentElement ?? own)
    own.addEventListener('scroll', scrolled, { passive: true })
    return () => {
      observer.disconnect()
      own.removeEventListener('scroll', scrolled)
    }
  })
  return { below, isCut, more: hasButton ? () => setTimes(2 * times) : undefined }
}
