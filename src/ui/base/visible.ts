// Whether a panel can be seen, so that nothing is measured for one that cannot.
import { type RefObject, useEffect, useState } from 'react'
import { setHidden } from '../../lab/page/client/observing.ts'

/** Has nothing observed while the page is in a background tab. To be called once. */
export function followVisibility(): void {
  const follow = () => setHidden(document.hidden)
  document.addEventListener('visibilitychange', follow)
  follow()
}

/** True while any part of the element is on screen. */
export function useVisible(ref: RefObject<Element | null>): boolean {
  const [is_visible, setVisible] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new IntersectionObserver((entries) =>
      setVisible(entries.at(-1)?.isIntersecting ?? false),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return is_visible
}
