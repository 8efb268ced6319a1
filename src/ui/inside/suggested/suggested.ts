// Writes and draws a change of entropy.
import { formatNats } from '../../kit/format.ts'

/** With its sign. */
export const changeText = (change: number): string =>
  `${change > 0 ? '+' : ''}${formatNats(change).replace(' nats', '')}`

/** Place of a bar in percent of its track, whose middle is no change and whose ends are the largest
 * of `all`. */
export function changeWidth(
  change: number,
  all: readonly number[],
): { readonly left: string; readonly width: string } {
  const largest = Math.max(...all.map(Math.abs)) || 1
  const width = (Math.abs(change) / largest) * 50
  return { left: `${change < 0 ? 50 - width : 50}%`, width: `${width}%` }
}
