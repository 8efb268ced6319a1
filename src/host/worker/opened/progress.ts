// Reports a few times a second how far reading or fetching is, how fast, and how long it will still
// take.
import type { ModelProgress } from '../../protocol/opened_model.ts'

const SAY_EVERY_MS = 200
/** The speed is that of the last seconds: a connection changes. */
const SPEED_MS = 5000

/** Takes bytes as they come. What was there at the first call counts as no progress. */
export function progressOf(
  doing: ModelProgress['doing'],
  now: () => number,
  say: (progress: ModelProgress) => void,
): (bytes: number, of: number) => void {
  const seen: { readonly at: number; readonly bytes: number }[] = []
  let said = Number.NEGATIVE_INFINITY
  return (bytes, of) => {
    const at = now()
    seen.push({ at, bytes })
    while (seen.length > 2 && at - seen[0].at > SPEED_MS) seen.shift()
    if (at - said < SAY_EVERY_MS && bytes < of) return
    said = at
    const [first] = seen
    const speed = at > first.at ? ((bytes - first.bytes) / (at - first.at)) * 1000 : 0
    const seconds_left = speed > 0 ? (of - bytes) / speed : Number.POSITIVE_INFINITY
    say({ doing, bytes, of, bytes_per_second: speed, seconds_left })
  }
}
