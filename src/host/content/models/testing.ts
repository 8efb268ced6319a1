// Makes servers in memory, for tests of fetching models.
import { type GetAnswer, NoAnswer, type RangedGet } from './ranged_get.ts'

/** How a server misbehaves. */
export interface Manners {
  /** Answers with the whole file, as servers without ranges do. */
  readonly hasNoRanges?: boolean
  /** Content-Range is hidden from pages. */
  readonly hidesTotal?: boolean
  /** Bytes that it says a file has more than there are. */
  readonly saysMore?: number
  /** After so many bytes in all each connection is cut once. */
  readonly cutsAt?: number
  /** Whether nothing comes after the cut. */
  readonly staysCut?: boolean
  readonly status?: number
  /** Answers before which it is busy. */
  busy?: number
}

/** A server of files by address, which counts what it is asked. */
export function serverOf(files: Readonly<Record<string, Uint8Array>>, manners: Manners = {}) {
  const asked: { address: string; begin: number; end: number }[] = []
  let sent = 0
  let wasCut = false
  const nothing = { bytes: new Uint8Array(), isCut: false }
  const get: RangedGet = async (address, begin, end): Promise<GetAnswer> => {
    asked.push({ address, begin, end })
    if (wasCut && manners.staysCut) throw new NoAnswer('blocked')
    if ((manners.busy ?? 0) > 0) {
      manners.busy = (manners.busy ?? 0) - 1
      return { ...nothing, status: 503 }
    }
    const file = files[address]
    if (!file) return { ...nothing, status: 404 }
    if (manners.status) return { ...nothing, status: manners.status }
    const size = file.length + (manners.saysMore ?? 0)
    const hasRange = Number.isFinite(end) && !manners.hasNoRanges
    const from = hasRange ? begin : 0
    if (hasRange && begin >= size) return { ...nothing, status: 416, total: size }
    const most = Number.isFinite(end) ? end - begin : 0
    let bytes = Uint8Array.from(file.subarray(from, from + most))
    let isCut = false
    if (manners.cutsAt !== undefined && !wasCut && sent + bytes.length > manners.cutsAt) {
      bytes = bytes.slice(0, manners.cutsAt - sent)
      isCut = true
      wasCut = true
    }
    sent += bytes.length
    const range = manners.hidesTotal ? {} : { first: from, total: size }
    return hasRange
      ? { status: 206, ...range, length: Math.min(most, size - begin), bytes, isCut }
      : { status: 200, length: size, bytes, isCut }
  }
  return { get, asked }
}
