// Tests that the cards to compare with say what bench/results/ says.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { BenchmarkNumbers } from '../../host/protocol/results.ts'
import { REFERENCE_CARDS } from './reference_cards.ts'

interface Result {
  readonly date: string
  readonly matmul?: readonly {
    readonly of: string
    readonly op: string
    readonly m: number
    readonly ms: { readonly understory: number }
  }[]
  readonly products?: readonly {
    readonly peak: { readonly gflops: number; readonly gbps: number }
  }[]
}

const read = (file: string): Result =>
  JSON.parse(readFileSync(new URL(`../../../bench/results/${file}.json`, import.meta.url), 'utf8'))

/** As many digits as a card has. */
const rounded = (value: number): number => Number(value.toPrecision(4))

/** The numbers of a card in a file of results, and the peak where a second file has it. */
function numbersOf(file: string, peaks?: string): Partial<BenchmarkNumbers> & { date: string } {
  const { date, matmul = [] } = read(file)
  const rate = (n: number) => {
    const found = matmul.find(({ of, op, m }) => of === 'square' && op === 'nn' && m === n)
    if (!found) throw new Error(`no product of ${n} in ${file}`)
    return rounded((2 * n ** 3) / (found.ms.understory * 1e6))
  }
  const peak = peaks === undefined ? undefined : read(peaks).products?.[0]?.peak
  return {
    date,
    ...(peak && { peak_gflops: rounded(peak.gflops), peak_gbps: rounded(peak.gbps) }),
    matmul_256_gflops: rate(256),
    matmul_512_gflops: rate(512),
  }
}

test('each card to compare with has the numbers of its results, and no others', () => {
  const files = [
    numbersOf('2026-11-28-nvidia-h100', '2026-11-28-nvidia-h100-products'),
    numbersOf('2026-11-24-google-swiftshader'),
  ]
  expect(REFERENCE_CARDS.map(({ date, numbers }) => ({ date, ...numbers }))).toEqual(files)
})
