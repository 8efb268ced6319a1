// Says how much memory of the GPU a run takes, and for what.
import { formatBytes } from '../kit/format.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB']

/** Bytes in the unit that the whole has, so that the parts of a list can be compared. */
export function bytesLike(bytes: number, whole: number): string {
  const unit = formatBytes(whole).split(' ')[1]
  const scaled = bytes / 1024 ** UNITS.indexOf(unit)
  const digits = unit === 'B' || scaled >= 100 ? 0 : scaled >= 1 || scaled === 0 ? 1 : 2
  return `${scaled.toFixed(digits)} ${unit}`
}

interface Parts {
  readonly total: number
  /** What the settings say that training takes. */
  readonly planned: number
  readonly panels: number
}

/** How what is on the GPU differs from what the settings say: the rest is no part of training. */
export function partsOfMemory({ total, planned, panels }: Parts): string {
  const say = (bytes: number) => bytesLike(bytes, total)
  const copies = total - planned - panels
  if (panels <= 0)
    return `Training takes ${say(planned)} of it, as planned before it began. ${say(copies)} is for copies on their way from the GPU.`
  if (copies <= 0)
    return `Training takes ${say(planned)} of it, as planned before it began. ${say(total - planned)} is for what open panels show.`
  return `Training takes ${say(planned)} of it, as planned before it began. ${say(panels)} is for what open panels show, and ${say(copies)} for copies on their way from the GPU.`
}
