// Computes SHA-256 piece by piece (FIPS 180-4): the browser's own takes a whole file at once, and
// those of models are larger than a tab's memory.

const K = Uint32Array.from(constants(64, 3))
const START = Uint32Array.from(constants(8, 2))
const BLOCK = 64

/** The first 32 bits of the fractional parts of the roots of the first primes: square roots, or
 * cube roots. */
function constants(count: number, root: 2 | 3): number[] {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((p) => n % p !== 0)) primes.push(n)
  return primes.map((prime) => fraction(BigInt(prime), BigInt(root)))
}

/** Of p^(1/root), by whole numbers: a double has too few bits. */
function fraction(prime: bigint, root: bigint): number {
  const scaled = prime << (32n * root)
  let [low, high] = [0n, 1n << 40n]
  while (high - low > 1n) {
    const middle = (low + high) >> 1n
    if (middle ** root <= scaled) low = middle
    else high = middle
  }
  return Number(low & 0xffffffffn)
}

export class Sha256 {
  readonly #state = START.slice()
  readonly #words = new Uint32Array(64)
  readonly #block = new Uint8Array(BLOCK)
  #held = 0
  #bytes = 0

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes
  }

  update(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    let at = 0
    if (this.#held > 0) {
      at = Math.min(BLOCK - this.#held, bytes.length)
      this.#block.set(bytes.subarray(0, at), this.#held)
      this.#held += at
      if (this.#held < BLOCK) return
      this.#mix(this.#block, 0)
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.#mix(bytes, at)
    this.#held = bytes.length - at
    this.#block.set(bytes.subarray(at))
  }

  /** `sha256-…` of all bytes; nothing more can be added. */
  digest(): string {
    const length = this.#bytes
    const zeros = (BLOCK + 56 - ((length + 1) % BLOCK)) % BLOCK
    const end = new Uint8Array(1 + zeros + 8)
    end[0] = 0x80
    const view = new DataView(end.buffer)
    view.setUint32(1 + zeros, Math.floor(length / 2 ** 29))
    view.setUint32(5 + zeros, (length * 8) % 2 ** 32)
    this.update(end)
    return `sha256-${Array.from(this.#state, (word) => word.toString(16).padStart(8, '0')).join('')}`
  }

  #mix(bytes: Uint8Array, at: number): void {
    const w = this.#words
    for (let i = 0, p = at; i < 16; i++, p += 4)
      w[i] = (bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3]
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15], w[i - 2]]
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[i] = w[i - 16] + s0 + w[i - 7] + s1
    }
    const state = this.#state
    let [a, b, c, d, e, f, g, h] = state
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    for (const [i, x] of [a, b, c, d, e, f, g, h].entries()) state[i] += x
  }
}
