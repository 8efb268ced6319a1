// Steadies the time that a run has left: as it passes a new estimate counts more and more, so that
// what is said goes down as clocks do, and glides where it was wrong.
import { formatDuration } from '../../kit/format.ts'

/** Seconds until the half of what was wrong is gone; with little left, a sixth of that. */
const HALF_S = 4

export interface Told {
  /** Whose time it is: where that changes, the new estimate is told at once. */
  readonly of: string
  readonly atMs: number
  readonly seconds: number
}

/** What to tell at `fresh.atMs`, when `told` was the last. */
export function steadied(told: Told | undefined, fresh: Told): Told {
  if (!told || told.of !== fresh.of || fresh.atMs < told.atMs) return fresh
  const passed = (fresh.atMs - told.atMs) / 1000
  const before = Math.max(0, told.seconds - passed)
  const half = Math.min(HALF_S, fresh.seconds / 6)
  const share = half > 0 ? 1 - 0.5 ** (passed / half) : 1
  return { ...fresh, seconds: before + share * (fresh.seconds - before) }
}

/** '17 s', '50 s', '3 min 40 s', '12 min': no more digits than it deserves. */
export function shortDuration(seconds: number, round = Math.round): string {
  const unit = seconds < 20 ? 1 : seconds < 57.5 ? 5 : seconds < 295 ? 10 : 60
  return formatDuration(unit * round(seconds / unit)).replace(' 00 s', '')
}
