// Follows a media query for components.
import { useSyncExternalStore } from 'react'

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
