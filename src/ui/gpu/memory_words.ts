// Says how much memory of the GPU a run takes, and for what.
import { formatBytes } from '../kit/format.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB']

/** Three places of the whole are said, and two behind the point at most. */
const MOST_DIGITS = 2

/** The parts of a whole in its unit, rounded so that what is said adds up to what is said of it:
 * those that lost the most by being cut get what is left. */
export function partsLike(parts: readonly number[]): {
  readonly whole: string
  readonly parts: readonly string[]
} {
  const sum = parts.reduce((all, bytes) => all + bytes, 0)
  const unit = formatBytes(sum).split(' ')[1]
  const scale = 1024 ** UNITS.indexOf(unit)
  const digits = unit === 'B' ? 0 : sum / scale >= 100 ? 1 : MOST_DIGITS
  const exact = parts.map((bytes) => (bytes / scale) * 10 ** digits)
  const cut = exact.map(Math.floor)
  const whole = Math.round((sum / scale) * 10 ** digits)
  const left = whole - cut.reduce((all, units) => all + units, 0)
  const byLoss = [...parts.keys()].sort((a, b) => exact[b] - cut[b] - (exact[a] - cut[a]))
  for (const i of byLoss.slice(0, left)) cut[i]++
  const say = (units: number) => `${(units / 10 ** digits).toFixed(digits)} ${unit}`
  return { whole: say(whole), parts: cut.map(say) }
}

interface Parts {
  readonly total: number
  /** What the settings say that training takes. */
  readonly planned: number
  readonly panels: number
}

/** How what is on the GPU differs from what the settings say: the rest is no part of training. */
export function partsOfMemory({ total, planned, panels }: Parts): string {
  const shown = Math.min(panels, total - planned)
  const said = partsLike([planned, shown, total - planned - shown]).parts
  const [own, open, copies] = said
  if (panels <= 0)
    return `Training takes ${own} of it, as planned before it began. ${copies} is for copies on their way from the GPU.`
  if (shown < panels || total - planned - shown <= 0)
    return `Training takes ${own} of it, as planned before it began. ${open} is for what open panels show.`
  return `Training takes ${own} of it, as planned before it began. ${open} is for what open panels show, and ${copies} for copies on their way from the GPU.`
}
