// Packs JSON that is short enough for a link or a line of text: deflated, in base64url. Takes
// hostile input.
import { deflateSync, inflateSync, strFromU8, strToU8 } from 'fflate'

export function pack(value: unknown): string {
  const bytes = deflateSync(strToU8(JSON.stringify(value)), { level: 9 })
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** What may be read: characters of the text, and bytes that come out of it. */
interface Limits {
  readonly mostText: number
  readonly mostBytes: number
}

/** What `pack` wrote. Throws for anything else, and for what is longer than the limits. */
export function unpack(text: string, { mostText, mostBytes }: Limits): unknown {
  if (text.length > mostText) throw new RangeError('it is too long')
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const out = new Uint8Array(mostBytes)
  const bytes = inflateSync(
    Uint8Array.from(plain, (c) => c.charCodeAt(0)),
    { out },
  )
  return JSON.parse(strFromU8(bytes))
}
