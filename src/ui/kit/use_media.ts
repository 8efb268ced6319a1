// Follows a media query for components.
import { useSyncExternalStore } from 'react'

/** A low window, as the styles have it: a phone on its side, or 200 % of a laptop's. */
export const LOW_WINDOW = '(max-height: 560px)'

export const isLowWindow = (): boolean => matchMedia(LOW_WINDOW).matches

/** Whether the query holds now. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(query)
      media.addEventListener('change', changed)
      return () => media.removeEventListener('change', changed)
    },
    () => matchMedia(query).matches,
    // Static markup knows no window.
    () => false,
  )
}
