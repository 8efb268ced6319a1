// Writes numbers in words that follow a run: written together, seldom enough to be read, and
// without rendering.
import { type RefObject, useEffect, useRef } from 'react'
import { t } from '../kit/translator.ts'
import { type UiState, uiStore } from '../shown/store.ts'

/** Numbers that change faster are not read; every write has the page lay out its lines again. */
export const TEXT_MS = 250
/** How long a redraw is waited for that would write the newest numbers along with its own
 * changes. */
const PATIENCE_MS = 150

const writers = new Set<() => void>()
let dueAt = Number.NEGATIVE_INFINITY
let timer: ReturnType<typeof setTimeout> | undefined

function writeAll(): void {
  clearTimeout(timer)
  timer = undefined
  dueAt = performance.now() + TEXT_MS
  for (const write of writers) write()
}

/** Whether another step is read out: that is answered at once. */
const isAsked = (now: UiState, before: UiState) =>
  now.hoverStep !== before.hoverStep ||
  now.atStep !== before.atStep ||
  now.smoothing !== before.smoothing

function follow(now: UiState, before: UiState): void {
  if (isAsked(now, before)) return writeAll()
  if (now.frame === before.frame) return
  const rest = dueAt - performance.now()
  if (rest <= 0) writeAll()
  else timer ??= setTimeout(writeAll, rest + PATIENCE_MS)
}

let stop: (() => void) | undefined

/** Calls `write` now, when another step is read out, and after redraws at most every TEXT_MS;
 * returns what ends that. */
export function keepWritten(write: () => void): () => void {
  write()
  writers.add(write)
  stop ??= uiStore.subscribe(follow)
  return () => {
    writers.delete(write)
    if (writers.size > 0) return
    stop?.()
    stop = undefined
    clearTimeout(timer)
    timer = undefined
    dueAt = Number.NEGATIVE_INFINITY
  }
}

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
