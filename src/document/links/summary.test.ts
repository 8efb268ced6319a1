import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  GREEDY_ACCURACY,
  lastOf,
  MAIN_MEASURE,
  metricOf,
  type SharedResult,
} from './shared_result.ts'
import {
  decodeSummary,
  encodeSummary,
  MAX_POINTS,
  MAX_SUMMARY_LENGTH,
  shortName,
  thinned,
} from './summary.ts'

const NAMES = [
  'critic/score/mean',
  'task/score/mean',
  GREEDY_ACCURACY,
  'actor/ppo_kl',
  'reward_model/held_out_accuracy',
  MAIN_MEASURE,
  ...Array.from({ length: 8 }, (_, layer) => `layer/entropy/${layer}`),
]
const anyValue = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
  { weight: 4, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, 0) },
)
const anySteps = fc
  .uniqueArray(fc.nat(1_000_000), { minLength: 1, maxLength: MAX_POINTS })
  .map((steps) => steps.sort((a, b) => a - b))
const anyResult: fc.Arbitrary<SharedResult> = fc
  .tuple(
    fc.string({ unit: 'grapheme' }),
    fc.subarray(NAMES, { minLength: 1 }),
    fc.array(anySteps, { minLength: 1, maxLength: 3 }),
    fc.infiniteStream(anyValue),
  )
  .map(([adapter, names, grids, values]) => ({
    adapter: shortName(adapter),
    steps: 1_000_000,
    lines: names.map((name, i) => {
      const steps = grids[i % grids.length]
      // One number at least, or there is no line.
      return { name, steps, values: steps.map((_, j) => (j === 0 ? i : values.next().value)) }
    }),
  }))

const spread = (values: readonly number[]) => {
  const finite = values.filter(Number.isFinite)
  return Math.max(...finite) - Math.min(...finite)
}

test('curves come back within half a level, the last value within rounding', () => {
  fc.assert(
    fc.property(anyResult, (result) => {
      const text = encodeSummary(result)
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
      const { result: decoded, notices } = decodeSummary(text)
      expect(notices).toEqual([])
      expect(decoded?.adapter).toBe(result.adapter)
      expect(decoded?.lines.map(({ name, steps }) => [name, steps])).toEqual(
        result.lines.map(({ name, steps }) => [name, steps]),
      )
      for (const [i, { values }] of result.lines.entries()) {
        const got = decoded?.lines[i].values ?? []
        const size = Math.max(...values.filter(Number.isFinite).map(Math.abs))
        const rounding = 1e-6 * size + 1e-30
        for (const [j, value] of values.entries()) {
          const allowed = (j === values.length - 1 ? 0 : spread(values) / 254 / 2) + rounding
          if (Number.isNaN(value)) expect(got[j]).toBeNaN()
          else expect(Math.abs(got[j] - value)).toBeLessThanOrEqual(allowed)
        }
      }
      // What was read is written as it was.
      if (decoded) expect(encodeSummary(decoded)).toBe(text)
    }),
    { numRuns: 60, seed: 1 },
  )
}, 60_000)

test('lines that cannot be told are left out', () => {
  const line = { name: 'actor/ppo_kl', steps: [1, 2], values: [0.1, Number.POSITIVE_INFINITY] }
  const { result } = decodeSummary(
    encodeSummary({
      adapter: 'x',
      steps: 2,
      lines: [
        line,
        { ...line, name: 'perf/dispatches' },
        { ...line, name: 'layer/entropy/224' },
        { ...line, name: 'critic/score/mean', values: [Number.NaN, Number.NaN] },
      ],
    }),
  )
  expect(result?.lines).toEqual([{ ...line, values: [expect.closeTo(0.1), Number.NaN] }])
  expect(result && lastOf(result, 'actor/ppo_kl')).toBeCloseTo(0.1)
  expect(result && lastOf(result, 'critic/score/mean')).toBeUndefined()
})

test('thinning keeps both ends and takes measured values', () => {
  const values = Array.from({ length: 1000 }, (_, i) => Math.sin(i))
  const columns = { steps: values.map((_, i) => 2 * i), values, length: 1000 }
  const { steps, values: kept } = thinned(columns, MAX_POINTS)
  expect([steps.length, steps[0], steps.at(-1)]).toEqual([MAX_POINTS, 0, 1998])
  expect(kept).toEqual(steps.map((step) => Math.sin(step / 2)))
  expect(new Set(steps).size).toBe(MAX_POINTS)
  expect(thinned({ ...columns, length: 1 }, 40)).toEqual({ steps: [0], values: [0] })
  expect(thinned({ ...columns, length: 3 }, 40).steps).toEqual([0, 2, 4])
})

test('the task of the accuracy is that of the experiment', () => {
  const of = (name: string) => metricOf(name, 'sort_digits', 'told by this')
  expect(of(GREEDY_ACCURACY)).toBe('val-aux/sort_digits/acc/greedy')
  expect(of(MAIN_MEASURE)).toBe('told by this')
  expect(of('actor/ppo_kl')).toBe('actor/ppo_kl')
})

const good = encodeSummary({
  adapter: 'Adapter',
  steps: 30,
  lines: [
    { name: 'critic/score/mean', steps: [10, 20, 30], values: [0.1, 0.2, 0.4] },
    { name: 'layer/entropy/3', steps: [0, 10, 20], values: [2, 1.5, 1] },
  ],
})
const toBytes = (text: string) => [...Buffer.from(text, 'base64url')]
const toText = (bytes: readonly number[]) => Buffer.from(bytes).toString('base64url')

test('what is cut, longer, newer or out of range is one notice', () => {
  const bytes = toBytes(good)
  expect(toText(bytes)).toBe(good)
  const changed = (at: number, value: number) => toText(bytes.with(at, value))
  const bad: [string, RegExp][] = [
    ['', /not written as ours/],
    ['====', /not written as ours/],
    [`${good}A!`, /not written as ours/],
    [changed(0, 2), /version, 2, is not known/],
    [changed(0, 0), /version, 0, is not known/],
    [`${good}AAAA`, /damaged/],
    ['A'.repeat(MAX_SUMMARY_LENGTH + 1), /characters long/],
    // The adapter's name: none, too long, a control character.
    [changed(1, 0), /damaged/],
    [changed(1, 250), /damaged/],
    [changed(2, 7), /damaged/],
    // The last step lies before the points; no lists; a list of 41 points; steps that do not move.
    [changed(9, 5), /damaged/],
    [changed(10, 0), /damaged/],
    [changed(11, 41), /damaged/],
    [changed(13, 0), /damaged/],
  ]
  for (let length = 1; length < bytes.length; length++)
    bad.push([toText(bytes.slice(0, length)), /damaged|cut/])
  for (const [text, why] of bad) {
    const { result, notices } = decodeSummary(text)
    expect([result, notices.length], text).toEqual([undefined, 1])
    expect(notices[0]).toMatch(why)
    expect(notices[0].length).toBeLessThan(200)
  }
})

test('no text makes it throw, or gives numbers beyond the limits', () => {
  const bytes = toBytes(good)
  const damaged = fc
    .array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((changes) => toText(changes.reduce((all, [at, value]) => all.with(at, value), bytes)))
  let read = 0
  fc.assert(
    fc.property(fc.oneof(damaged, fc.string(), fc.base64String()), (text) => {
      const { result, notices } = decodeSummary(text)
      expect(notices.length).toBe(result ? 0 : 1)
      if (!result) return
      read++
      for (const { steps, values } of result.lines) {
        expect(steps.length).toBe(values.length)
        expect(steps.every((step, i) => i === 0 || step > steps[i - 1])).toBe(true)
        expect(values.every((value) => Number.isNaN(value) || Math.abs(value) <= 1e9)).toBe(true)
      }
    }),
    { numRuns: 300, seed: 1 },
  )
  expect(read).toBeGreaterThan(10)
}, 60_000)
