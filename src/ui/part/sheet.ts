// Lays settings that are open over the page, where they have no room beside it.
import { useLayoutEffect } from 'react'
import { LOW_WINDOW, useMedia } from '../kit/use_media.ts'
import { laidOver } from '../kit/way_back.ts'
import { keepWidth } from './show_modal.ts'

/** As the styles have it (settings.css). */
const NARROW = '(max-width: 899px)'

/** Calls `close` at Escape and at Back; returns what ends that. */
function watchClosing(close: () => void): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const isOthers = event.defaultPrevented || document.querySelector('dialog[open]')
    if (event.key === 'Escape' && !isOthers) close()
  }
  addEventListener('keydown', onKeyDown)
  const leave = laidOver({ isOpen: () => true, close })
  return () => {
    removeEventListener('keydown', onKeyDown)
    leave()
  }
}

/** While they lie over the page nothing of it takes the focus, except the controls of a run and a
 * lesson, which stay in sight. Says whether they would lie there. */
export function useSheet(isOpen: boolean, onOpen: (open: boolean) => void): boolean {
  const isNarrow = useMedia(NARROW)
  const isSheet = isOpen && isNarrow
  useLayoutEffect(() => {
    if (!isSheet) return
    const panel = () => document.querySelector('.settings')
    const focusToggle = () => document.getElementById('settings-toggle')?.focus()
    const from = document.activeElement
    const query = '.skip-link, .header, .bar > *, #main'
    const behind = [...document.querySelectorAll<HTMLElement>(query)]
    if (!panel()?.contains(from)) focusToggle()
    // In a low window it covers the controls, too: also when a phone is turned meanwhile.
    const low = matchMedia(LOW_WINDOW)
    const cover = () => {
      for (const part of behind) part.inert = low.matches || !part.matches('.controls')
      if (document.activeElement?.closest('[inert]')) focusToggle()
    }
    cover()
    low.addEventListener('change', cover)
    keepWidth()
    const { style } = document.documentElement
    style.overflow = 'hidden'
    const stop = watchClosing(() => onOpen(false))
    return () => {
      stop()
      low.removeEventListener('change', cover)
      for (const part of behind) part.inert = false
      style.overflow = ''
      const now = document.activeElement
      const isFree = now === document.body || panel()?.contains(now) === true
      if (isFree && from instanceof HTMLElement) from.focus({ preventScroll: true })
    }
  }, [isSheet, onOpen])
  return isNarrow
}
