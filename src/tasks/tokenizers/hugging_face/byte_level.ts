// Reads byte-level vocabularies: the characters with which they write bytes (GPT-2's
// bytes_to_unicode), and how they cut texts into words.

/** The sign of every byte: itself where it is printable in Latin-1, else a letter from U+0100
 * on. */
export const BYTE_SIGNS: readonly string[] = (() => {
  const isShown = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad)
  let next = 0x100
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(isShown(byte) ? byte : next++),
  )
})()

const BYTE_OF = new Map(BYTE_SIGNS.map((sign, byte) => [sign, byte] as const))
const encoder = new TextEncoder()
/** As Rust's from_utf8_lossy: each maximal invalid part is one U+FFFD, and a byte-order mark
 * stays. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The bytes of a text in UTF-8. A lone surrogate has none; it becomes U+FFFD. */
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** The text of bytes in UTF-8. */
export const fromUtf8 = (bytes: Iterable<number>): string => decoder.decode(Uint8Array.from(bytes))

/** A text as the signs of its bytes. */
export function toByteSigns(text: string): string {
  let signs = ''
  for (const byte of encoder.encode(text)) signs += BYTE_SIGNS[byte]
  return signs
}

/** The bytes that a token of a byte-level vocabulary stands for; of a token with other characters,
 * its own in UTF-8. */
export function bytesOfSigns(token: string): readonly number[] {
  const bytes: number[] = []
  for (const sign of token) {
    const byte = BYTE_OF.get(sign)
    if (byte === undefined) return [...encoder.encode(token)]
    bytes.push(byte)
  }
  return bytes
}

/** GPT-2's pattern. White_Space and not \s, which in JavaScript has U+FEFF and lacks U+0085. */
export const GPT2_PATTERN =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu
