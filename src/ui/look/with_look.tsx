// Puts the look at a kept state into the panels of a tab: above what is empty, which it fills, and
// below what is full.
import type { PanelEntry } from '../part/Panels.tsx'
import { LookNow } from './LookNow.tsx'

/** Panels of a tab with the look before or behind them. `useIsEmpty` is a hook: whether nothing
 * was measured that they could show. */
export function withLook(
  panels: readonly PanelEntry[],
  useIsEmpty: () => boolean,
): readonly PanelEntry[] {
  const First = () => (useIsEmpty() ? <LookNow /> : null)
  const Last = () => (useIsEmpty() ? null : <LookNow />)
  return [
    { name: 'The look at a kept state, first', Own: First },
    ...panels,
    { name: 'The look at a kept state', Own: Last },
  ]
}
