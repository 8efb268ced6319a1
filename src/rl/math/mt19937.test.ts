import { expect, test } from 'vitest'
import { Mt19937 } from './mt19937.ts'

const draws = (seed: number, count: number) => {
  const generator = new Mt19937(seed)
  return Array.from({ length: count }, () => generator.uint32())
}

test('the bits are those of the reference generator', () => {
  // 5489 is the seed of the reference implementation; numpy prints the same for 0.
  expect(draws(5489, 1)).toEqual([3499211612])
  expect(draws(0, 3)).toEqual([2357136044, 2546248239, 3071714933])
  // C++ 26.5.5: the 10000th output of mt19937.
  expect(draws(5489, 10_000).at(-1)).toBe(4123659995)
})

test('bounded draws are those of numpy.random.choice', () => {
  // numpy.random.seed(7); numpy.random.choice(5, 12)
  expect([...new Mt19937(7).integers(5, 12)]).toEqual([4, 1, 3, 3, 4, 1, 0, 1, 2, 2, 0, 4])
  // numpy.random.seed(2**32 - 1); numpy.random.choice(1000, 6)
  expect([...new Mt19937(2 ** 32 - 1).integers(1000, 6)]).toEqual([419, 290, 12, 71, 948, 576])
})

test('draws continue where the last call ended', () => {
  const generator = new Mt19937(7)
  const parts = [...generator.integers(5, 5), ...generator.integers(5, 7)]
  expect(parts).toEqual([...new Mt19937(7).integers(5, 12)])
})

test('one choice takes no draw; all of 32 bits take each as it is', () => {
  const generator = new Mt19937(0)
  expect([...generator.integers(1, 4)]).toEqual([0, 0, 0, 0])
  expect([...generator.integers(2 ** 32, 3)]).toEqual(draws(0, 3))
})

test('seeds and bounds out of range are refused', () => {
  for (const seed of [-1, 2 ** 32, 0.5, Number.NaN])
    expect(() => new Mt19937(seed)).toThrow(/seed: expected an integer from 0 to 2\^32 - 1/)
  const generator = new Mt19937(1)
  for (const n of [0, 2.5, 2 ** 33]) expect(() => generator.integers(n, 1)).toThrow(RangeError)
})
