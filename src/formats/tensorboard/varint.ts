// Writes whole numbers as protocol buffers do.

/** Seven bits a byte, the lowest first; all bytes but the last have the eighth bit set. */
export function varint(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest % 128) + 128)
  }
}
