// Numbers the problems of a task, holds some out, and draws from the rest. Knows no task.
import type { Split } from './task.ts'

/** Most held-out problems; a task with fewer than five times this many holds out a fifth. */
export const MAX_TEST_SIZE = 512

/** One drawn problem. */
export interface Draw {
  /** Number of the problem, 0 … total − 1. */
  readonly problem: number
  /** Uniform in [0, 1): decides everything else about the sample. */
  readonly chance: number
}

/** The problems 0 … total − 1 of a task, split in two. */
export interface Problems {
  readonly test_size: number
  /** Problems that are not held out. */
  readonly train_size: number
  /** Draw `index`: for 'train' uniform, with repeats; for 'train_set' the training problems in
   * turn, in an order that the seed does not change; for 'test' the held-out problems in turn,
   * whatever the seed. */
  draw(seed: number, index: number, split: Split): Draw
}

/** Splits `total` problems into held-out and training ones, with no list of either.
 *
 * A permutation of 0 … total − 1, fixed by `name` alone, puts the held-out problems at its first
 * positions; a training draw permutes a uniform position after them. So the two are disjoint
 * whatever the seed, and every draw is a function of (seed, name, index, split): no draw depends on
 * an earlier one.
 *
 * Throws RangeError unless 5 ≤ total ≤ 2^32, and unless an index is a whole number from 0. */
export function splitProblems(name: string, total: number): Problems {
  if (!(Number.isInteger(total) && total >= 5 && total <= 2 ** 32))
    throw new RangeError(`splitProblems: expected 5 to 2^32 problems of ${name}, got ${total}`)
  const key = hash(Array.from(name, (character) => character.charCodeAt(0)))
  const test_size = Math.min(MAX_TEST_SIZE, Math.floor(total / 5))
  const train_size = total - test_size
  return {
    test_size,
    train_size,
    draw(seed, index, split) {
      if (!(Number.isInteger(index) && index >= 0))
        throw new RangeError(`sample: expected a whole index from 0, got ${index}`)
      if (split === 'test') {
        const position = index % test_size
        return { problem: permute(position, total, key), chance: uniform([key, position]) }
      }
      if (split === 'train_set') {
        const position = test_size + (index % train_size)
        const chance = uniform([4, key, ...twoWords(seed), position])
        return { problem: permute(position, total, key), chance }
      }
      const words = [key, ...twoWords(seed), ...twoWords(index)]
      const position = test_size + Math.floor(uniform([0, ...words]) * train_size)
      return { problem: permute(position, total, key), chance: uniform([1, ...words]) }
    },
  }
}

/** Low and high 32 bits of a whole number. */
export const twoWords = (x: number) => [x >>> 0, Math.floor(x / 2 ** 32) >>> 0]

/** Uniform in [0, 1) from 53 hashed bits: the bias of floor(u · n) is below n / 2^53. */
export const uniform = (words: readonly number[]) =>
  ((hash([2, ...words]) >>> 11) * 2 ** 32 + hash([3, ...words])) / 2 ** 53

/** 32 well-mixed bits of a list of 32-bit words: MurmurHash3_x86_32 with seed 0 (Appleby, public
 * domain). */
export function hash(words: readonly number[]): number {
  let h = 0
  for (const word of words) {
    let k = Math.imul(word, 0xcc9e2d51)
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
    h ^= k
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
  }
  h ^= 4 * words.length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** Where `position` goes in a pseudo-random permutation of 0 … total − 1: an 8-round Feistel
 * network on the next even number of bits, walked again while it lands outside (Black & Rogaway
 * 2002, "cycle walking"; under 4 walks on average). */
function permute(position: number, total: number, key: number): number {
  const half = Math.ceil(Math.log2(total) / 2)
  const mask = 2 ** half - 1
  let x = position
  do {
    let left = Math.floor(x / 2 ** half)
    let right = x % 2 ** half
    for (let round = 0; round < 8; round++)
      [left, right] = [right, (left ^ hash([key, round, right])) & mask]
    x = left * 2 ** half + (right >>> 0)
  } while (x >= total)
  return x
}
