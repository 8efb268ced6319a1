// Converts bfloat16 on the CPU: the upper half of an f32's bits.

/** The values of bfloat16 bits; each has an exact f32. */
export function decodeBfloat16(bits: Uint16Array): Float32Array<ArrayBuffer> {
  const words = new Uint32Array(bits.length)
  for (let i = 0; i < bits.length; i++) words[i] = bits[i] << 16
  return new Float32Array(words.buffer)
}

/** The bits of values rounded to the nearest bfloat16, ties to even; NaN stays NaN. */
export function encodeBfloat16(values: Float32Array): Uint16Array<ArrayBuffer> {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length)
  const bits = new Uint16Array(values.length)
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    const isNan = (word & 0x7fffffff) > 0x7f800000
    bits[i] = isNan ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16
  }
  return bits
}
