// A study as the part `study` of a page's hash: its document, deflated, in base64url. Takes hostile
// input.
import { deflateSync, inflateSync, strFromU8, strToU8 } from 'fflate'
import { type ParsedStudy, parseStudy, type Study } from './study.ts'

/** Longer texts are not read: a link of ours has a few hundred characters. */
const MOST_TEXT = 7000
/** What may come out of it. */
const MOST_BYTES = 200_000

export function encodeStudy(study: Study): string {
  const bytes = deflateSync(strToU8(JSON.stringify(study)), { level: 9 })
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The study of a link, or what is wrong with it. Never throws. */
export function decodeStudy(text: string): ParsedStudy {
  try {
    if (text.length > MOST_TEXT) throw new RangeError('it is too long')
    const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const out = new Uint8Array(MOST_BYTES)
    const bytes = inflateSync(
      Uint8Array.from(plain, (c) => c.charCodeAt(0)),
      { out },
    )
    return parseStudy(JSON.parse(strFromU8(bytes)))
  } catch {
    const message = 'the link’s study cannot be read: it was cut off or changed on its way'
    return { ok: false, issues: [{ path: '', message }] }
  }
}
