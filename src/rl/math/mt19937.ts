// Rebuilds numpy's legacy random generator, so that a bootstrap draws the same rows here as in
// verl.

const WORDS = 624
const SHIFT = 397

/** MT19937 as `numpy.random.seed(seed)` with an integer starts it, and the draws that
 * `numpy.random.choice(n, size)` makes with replacement.
 *
 * Source: Matsumoto and Nishimura 1998, "Mersenne Twister", ACM TOMACS 8(1); seeding init_genrand
 * of its 2002 revision. numpy/random/mtrand.pyx RandomState.randint for the bounded draws. */
export class Mt19937 {
  readonly #state = new Uint32Array(WORDS)
  #next = WORDS

  /** seed: an integer from 0 to 2³² - 1; RangeError otherwise. */
  constructor(seed: number) {
    if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff)
      throw new RangeError(`seed: expected an integer from 0 to 2^32 - 1, got ${seed}`)
    const state = this.#state
    state[0] = seed
    for (let i = 1; i < WORDS; i++)
      state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i
  }

  /** The next 32 random bits, 0 … 2³² - 1. */
  uint32(): number {
    if (this.#next === WORDS) this.#twist()
    let bits = this.#state[this.#next++]
    bits ^= bits >>> 11
    bits ^= (bits << 7) & 0x9d2c5680
    bits ^= (bits << 15) & 0xefc60000
    return (bits ^ (bits >>> 18)) >>> 0
  }

  /** `count` integers from 0 to n - 1: the low bits of a draw that can hold n - 1, drawn again
   * while too large. n = 1 draws nothing. n: 1 … 2³²; RangeError otherwise. */
  integers(n: number, count: number): Uint32Array {
    if (!Number.isInteger(n) || n < 1 || n > 2 ** 32)
      throw new RangeError(`integers below n: expected n from 1 to 2^32, got ${n}`)
    const values = new Uint32Array(count)
    const largest = n - 1
    if (largest === 0) return values
    const mask = 0xffffffff >>> Math.clz32(largest)
    for (let i = 0; i < count; i++) {
      let value = (this.uint32() & mask) >>> 0
      while (value > largest) value = (this.uint32() & mask) >>> 0
      values[i] = value
    }
    return values
  }

  #twist(): void {
    const state = this.#state
    for (let i = 0; i < WORDS; i++) {
      const bits = (state[i] & 0x80000000) | (state[(i + 1) % WORDS] & 0x7fffffff)
      state[i] = state[(i + SHIFT) % WORDS] ^ (bits >>> 1) ^ (bits & 1 ? 0x9908b0df : 0)
    }
    this.#next = 0
  }
}
