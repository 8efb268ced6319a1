// Follows whether a panel can be seen, so that nothing is measured for one that cannot.
import { type RefObject, useEffect, useState } from 'react'
import { setHidden, setMoments } from '../../page/client/observing.ts'
import { uiStore } from './store.ts'

/** Has nothing observed for panels while the page is in a background tab, and moments as the person
 * chose. To be called once. */
export function followVisibility(): void {
  const follow = () => setHidden(document.hidden)
  document.addEventListener('visibilitychange', follow)
  follow()
  const followMoments = () => setMoments(uiStore.getState().moments_on)
  uiStore.subscribe((now, before) => {
    if (now.moments_on !== before.moments_on) followMoments()
  })
  followMoments()
}

/** True while any part of the element is on screen, or as near to it as `margin` in pixels. */
export function useVisible(ref: RefObject<Element | null>, margin = 0): boolean {
  const [isVisible, setVisible] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new IntersectionObserver(
      (entries) => setVisible(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: `${margin}px` },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref, margin])
  return isVisible
}
