import fc from 'fast-check'
import { expect, test } from 'vitest'
import { appendMetrics, appendRow, Series } from './series.ts'
import {
  isThinned,
  keptRows,
  MAX_ROWS,
  thin,
  thinnedOf,
  thinnedWords,
  WHOLE_ROWS,
} from './thinning.ts'

const value = fc.oneof(
  { weight: 8, arbitrary: fc.double({ noNaN: true, min: -10, max: 10 }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Infinity, -Infinity) },
)
/** Gaps between steps, and values. */
const rows = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 5 }), value), { minLength: 1, maxLength: 300 })
  .map((all) => {
    let step = -1
    const steps = Float64Array.from(all, ([gap]) => (step += gap))
    return { steps, values: Float64Array.from(all, ([, own]) => own), length: steps.length }
  })
const bucket = fc.integer({ min: 1, max: 8 }).map((power) => 2 ** power)

const extremes = (values: Iterable<number>) => {
  const finite = [...values].filter(Number.isFinite)
  return [Math.min(...finite), Math.max(...finite)]
}

test('of each bucket the first, the lowest, the highest and a gap stay, in order', () => {
  fc.assert(
    fc.property(rows, bucket, (all, every) => {
      const kept = keptRows(all, all.length, every)
      expect(kept[0]).toBe(0)
      expect(kept.every((row, i) => i === 0 || row > kept[i - 1])).toBe(true)
      const of = (row: number) => Math.floor(all.steps[row] / every)
      const indices = Array.from(all.steps.keys())
      for (const own of new Set(indices.map(of))) {
        const there = indices.filter((row) => of(row) === own)
        const left = kept.filter((row) => of(row) === own)
        expect(left.length).toBeLessThanOrEqual(4)
        expect(left[0]).toBe(there[0])
        const values = (from: number[]) => from.map((row) => all.values[row])
        expect(extremes(values(left))).toEqual(extremes(values(there)))
        const hasGap = (from: number[]) => values(from).some((one) => !Number.isFinite(one))
        expect(hasGap(left)).toBe(hasGap(there))
      }
    }),
  )
})

test('wider buckets keep the same rows, whether or not narrower ones came before', () => {
  fc.assert(
    fc.property(rows, bucket, bucket, (all, a, b) => {
      const [narrow, wide] = [Math.min(a, b), Math.max(a, b)]
      const first = keptRows(all, all.length, narrow)
      const take = (column: Float64Array) => Float64Array.from(first, (row) => column[row])
      const once = { steps: take(all.steps), values: take(all.values), length: first.length }
      const twice = keptRows(once, once.length, wide).map((row) => first[row])
      expect(twice).toEqual(keptRows(all, all.length, wide))
    }),
  )
})

const wave = (step: number) =>
  Math.sin(step / 700) + (step === 777 ? 50 : 0) - (step === 31 ? 9 : 0)

function run(from: number, to: number, every = 1, series = new Map<string, Series>()) {
  for (let step = from; step <= to; step += every) appendRow(series, 'loss', step, wave(step))
  return series.get('loss') ?? new Series()
}

test('a column never has more rows than it may, and none is lost before', () => {
  const whole = run(0, MAX_ROWS - 1)
  expect([whole.length, whole.thinned]).toEqual([MAX_ROWS, undefined])
  const series = new Map([['loss', whole]])
  const column = run(MAX_ROWS, MAX_ROWS, 1, series)
  expect(column).not.toBe(whole)
  expect(whole.length).toBe(MAX_ROWS)
  expect(column.length).toBeLessThanOrEqual(MAX_ROWS / 2 + 1)
  expect(column.thinned).toEqual({ every: 8, until: MAX_ROWS - 1 - WHOLE_ROWS })
  const newest = column.steps.slice(column.length - WHOLE_ROWS - 1, column.length)
  expect([...newest]).toEqual(
    Array.from({ length: WHOLE_ROWS + 1 }, (_, i) => MAX_ROWS - WHOLE_ROWS + i),
  )
})

test('a long column keeps its first row, its extremes and its newest rows, evenly spread', () => {
  const column = run(0, 200_000)
  const { steps, values, length, thinned } = column
  expect(length).toBeLessThanOrEqual(MAX_ROWS)
  expect([steps[0], steps[length - 1]]).toEqual([0, 200_000])
  expect(extremes(values.subarray(0, length))).toEqual([wave(31), wave(777)])
  expect(values.subarray(0, length).every((own, i) => own === wave(steps[i]))).toBe(true)
  const every = thinned?.every ?? 0
  for (let i = 1; i < length; i++) expect(steps[i] - steps[i - 1]).toBeLessThan(2 * every)
  for (let i = column.after(thinned?.until ?? 0); i < length; i++)
    expect(steps[i] - steps[i - 1]).toBe(1)
})

test('metrics of the same steps keep common steps', () => {
  const series = new Map<string, Series>()
  for (let step = 0; step < 40_000; step++)
    appendMetrics(series, step, { a: Math.sin(step), b: Math.cos(step / 3), c: 1 })
  const of = (name: string) => series.get(name) ?? new Series()
  const every = thinnedOf(series.values())?.every ?? 0
  for (const name of ['a', 'b', 'c'])
    for (let step = 0; step < 30_000; step += every)
      expect(of(name).steps[of(name).after(step) - 1]).toBe(step)
})

test('rare metrics are thinned by their own steps', () => {
  const column = run(0, 10 * (MAX_ROWS + 5), 10)
  expect(column.thinned?.every).toBe(64)
  expect(column.length).toBeLessThan(MAX_ROWS)
})

test('a column of nothing but gaps, and one whose steps are far apart, are thinned too', () => {
  const gaps = Array.from({ length: MAX_ROWS }, (_, i) => i)
  const thinned = thin(
    {
      steps: Float64Array.from(gaps),
      values: new Float64Array(MAX_ROWS).fill(Number.NaN),
      length: MAX_ROWS,
    },
    undefined,
  )
  expect(thinned.length).toBeLessThanOrEqual(MAX_ROWS / 2)
  const far = thin(
    {
      steps: Float64Array.from(gaps, (i) => i * 2 ** 38),
      values: Float64Array.from(gaps),
      length: MAX_ROWS,
    },
    undefined,
  )
  expect(far.length).toBeLessThanOrEqual(MAX_ROWS / 2)
})

test('what is lost is said in a sentence, and only then', () => {
  expect(thinnedWords(thinnedOf([new Series()]))).toBe('')
  expect(thinnedWords(thinnedOf([run(0, MAX_ROWS), run(0, 2 * MAX_ROWS), new Series()]))).toBe(
    'Up to step 26,875 not every step is kept any more: of each 8 the first, the lowest and the highest value.',
  )
  expect([{}, null, 1, { every: 1, until: 3 }, { every: 4, until: 0.5 }].some(isThinned)).toBe(
    false,
  )
})
