// Draws the counter-based random numbers of wgsl/philox.wgsl, bit for bit, for code that runs on
// the CPU.

export type PhiloxCounter = readonly [number, number, number, number]
export type PhiloxKey = readonly [number, number]

/** High 32 bits of a · b, from 16-bit halves: a product of two u32 does not fit a double. */
function multiplyHigh(a: number, b: number): number {
  const [aLow, aHigh] = [a & 0xffff, a >>> 16]
  const [bLow, bHigh] = [b & 0xffff, b >>> 16]
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16)
  const carry = aLow * bHigh + (middle & 0xffff)
  return (aHigh * bHigh + (middle >>> 16) + (carry >>> 16)) >>> 0
}

/** Philox4x32-10: four random u32 from a counter and a key of u32. Holds no state: the caller
 * counts. Two calls that differ in any counter or key word give independent numbers.
 *
 * Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", section 3.3
 * (SC'11). */
export function philox4x32(
  counter: PhiloxCounter,
  key: PhiloxKey,
): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter
  let [k0, k1] = key
  for (let round = 0; round < 10; round++) {
    const next0 = (multiplyHigh(0xcd9e8d57, c2) ^ c1 ^ k0) >>> 0
    const next2 = (multiplyHigh(0xd2511f53, c0) ^ c3 ^ k1) >>> 0
    c1 = Math.imul(0xcd9e8d57, c2) >>> 0
    c3 = Math.imul(0xd2511f53, c0) >>> 0
    c0 = next0
    c2 = next2
    k0 = (k0 + 0x9e3779b9) >>> 0
    k1 = (k1 + 0xbb67ae85) >>> 0
  }
  return [c0, c1, c2, c3]
}

/** Uniform in [0, 1) with 24 bits, exact in f32; the shader's formula. */
export const uniform24 = (bits: number): number => (bits >>> 8) * 2 ** -24

/** Two independent standard normal values from two u32.
 * The first uniform is moved to (0, 1], so the logarithm is finite; |value| is at most 5.77.
 *
 * Source: Box and Muller 1958, "A note on the generation of random normal deviates". */
export function normalPair(bits0: number, bits1: number): [number, number] {
  const radius = Math.sqrt(-2 * Math.log(uniform24(bits0) + 2 ** -24))
  const angle = 2 * Math.PI * uniform24(bits1)
  return [radius * Math.cos(angle), radius * Math.sin(angle)]
}

/** `count` normal values of mean 0 and deviation `std`, for initial weights. Value n depends on n,
 * `stream` and `key` only, so each tensor takes its own stream and may grow or be skipped without
 * changing another. The counter's last word is 1 and sample_token's is 0: with one key, they still
 * share no number. */
export function normalValues(
  count: number,
  std: number,
  key: PhiloxKey,
  stream: number,
): Float32Array {
  const values = new Float32Array(count)
  for (let n = 0; n < count; n += 4) {
    const bits = philox4x32([n / 4, stream, 0, 1], key)
    const four = [...normalPair(bits[0], bits[1]), ...normalPair(bits[2], bits[3])]
    for (let i = 0; i < 4 && n + i < count; i++) values[n + i] = std * four[i]
  }
  return values
}
