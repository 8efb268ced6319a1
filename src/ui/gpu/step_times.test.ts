// What is said of the time of a run's steps.
import { expect, test } from 'vitest'
import { againstPeak, largestStages, stepCharts, stepPace, stepTimeWords } from './step_times.ts'

const column = (...values: number[]) => ({
  values: Float64Array.from(values),
  length: values.length,
})

test('the middle step and the stages that took most are said, without validations', () => {
  const series = new Map([
    ['timing_s/step', column(3, 1, Number.NaN, 2, 4)],
    ['timing_s/gen', column(1, 1, 1, 1)],
    ['timing_s/update_actor', column(2, 0, 1, 2)],
    ['timing_s/testing', column(90)],
    ['actor/entropy', column(1)],
  ])
  expect(largestStages(series)).toEqual({
    median: 2,
    count: 4,
    stages: [
      { name: 'policy learns', share: 0.5 },
      { name: 'sampling', share: 0.4 },
    ],
  })
})

test('nothing is said before a step was timed', () => {
  expect(largestStages(new Map())).toBeUndefined()
  expect(largestStages(new Map([['timing_s/step', column(0)]]))).toBeUndefined()
})

test('a step of less than a second took more than none', () => {
  const words = (median: number) => stepTimeWords({ median, count: 2, stages: [] })
  expect([0.04, 0.44, 2.14, 75].map((median) => words(median))).toEqual([
    'From its beginning to its numbers the median step took 40 ms.',
    'From its beginning to its numbers the median step took 0.44 s.',
    'From its beginning to its numbers the median step took 2.14 s.',
    'From its beginning to its numbers the median step took 1 min 15 s.',
  ])
})

test('how often a step came is said before its latency, as steps overlap', () => {
  const gap = (ms: number) => ({ ms, isValidated: false })
  const pace = stepPace({ 0: [gap(900), gap(1100)], 1: [gap(1000), gap(9000)] })
  expect(pace).toBe(1)
  expect(stepPace({})).toBeUndefined()
  expect(stepPace({ 0: [gap(900)] })).toBeUndefined()
  expect(stepTimeWords({ median: 1.84, count: 5, stages: [] }, pace)).toMatch(
    /^A step came every 1 s \(median\). .* the median step took 1.84 s: its latency/,
  )
})

test('steps that do not overlap are not said to', () => {
  expect(stepTimeWords({ median: 0.75, count: 3, stages: [] }, 0.97)).toBe(
    'A step came every 0.97 s (median). From its beginning to its numbers the median step took 0.75 s.',
  )
  expect(stepTimeWords({ median: 0.75, count: 1, stages: [] })).toBe(
    'From its beginning to its numbers the step took 0.75 s.',
  )
})

test('the throughput is set against the peak of the adapter', () => {
  const series = new Map([['perf/throughput', column(500, 1000, 3000)]])
  // 0.002 · 10⁹ operations for each token.
  const costs = { responses: 1, tokens: 100, arithmetic: 0.2 }
  expect(againstPeak(series, costs, 40)).toContain('at least 2 GFLOP/s: 5.0')
  expect(againstPeak(series, costs, 1)).toContain(
    'more than the whole of the most measured on this adapter, 1 GFLOP/s',
  )
  expect(againstPeak(series, costs, 0)).toBeUndefined()
  expect(againstPeak(new Map(), costs, 40)).toBeUndefined()
  expect(againstPeak(series, { ...costs, tokens: 0 }, 40)).toBeUndefined()
})

test('of a log nothing is said that is true of the lab’s own steps alone', () => {
  const notes = (kind?: string) =>
    stepCharts(['timing_s/step', 'perf/throughput'], kind).map(({ note }) => note)
  expect(notes('verl')).toEqual(['s', 'tok/s'])
  for (const own of [notes(), notes('lab')])
    expect(own.join()).toMatch(/while the next step.*overlap/)
})
