// Writes numbers in words that follow a run, without rendering.
import { type RefObject, useEffect, useRef } from 'react'
import { t } from '../kit/translator.ts'
import { keepWritten } from '../shown/readout.ts'

/** Changes the text of an element in place: with another text node in it the browser asks of all
 * around it anew what `:has()` and `:empty` say. */
export function writeText(element: Element, text: string): void {
  const { firstChild } = element
  if (firstChild?.nodeType === 3 && element.childNodes.length === 1) firstChild.nodeValue = text
  else element.textContent = text
}

/** Keeps the text of an element near the truth; `text` is asked when `keepWritten` says. */
export function useLiveText<T extends HTMLElement>(text: () => string): RefObject<T | null> {
  const ref = useRef<T>(null)
  useEffect(() => {
    let written: string | undefined
    return keepWritten(() => {
      const now = t(text())
      if (ref.current && now !== written) writeText(ref.current, now)
      written = now
    })
  }, [text])
  return ref
}
