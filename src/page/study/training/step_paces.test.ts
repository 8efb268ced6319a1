// Runs that share a device tell the page's estimates how long a step of each takes.
import { expect, test } from 'vitest'
import { armsOf } from '../../../document/study/testing.ts'
import { measuredPhases } from '../../../record/run/time_left.ts'
import { StepPaces } from './step_paces.ts'

test('of two runs that take turns each has half of the time; one alone has all of it', () => {
  const [{ experiment }] = armsOf()
  const told: number[] = []
  let now = 0
  const paces = new StepPaces(
    (adapter, { gaps }) => {
      expect(adapter).toBe('gpu')
      told.push(measuredPhases(experiment.phases, gaps)[0].pace.step_ms)
    },
    () => now,
  )
  const step = (run: number) => {
    now += 500
    paces.step(run, { adapter: 'gpu', experiment }, { phase: 0, metrics: {} })
  }
  for (let i = 0; i < 8; i++) for (const run of [1, 2]) step(run)
  // Each at its second step, and then once in two seconds.
  expect(told.slice(0, 2)).toEqual([500, 500])
  expect(told.length).toBeLessThan(10)
  paces.end(2)
  told.length = 0
  for (let i = 0; i < 40; i++) step(1)
  expect(told.at(-1)).toBe(500)
  // Heard of at once, they say themselves when they were done.
  for (let i = 0; i < 80; i++) {
    const at_ms = now + 250 * (i + 1)
    paces.step(1, { adapter: 'gpu', experiment }, { phase: 0, metrics: {}, at_ms })
  }
  expect(told.at(-1)).toBe(250)
})

test('of four runs each has a quarter, and what is measured while one prepares says nothing', () => {
  const [{ experiment }] = armsOf()
  const told: number[] = []
  let now = 0
  const paces = new StepPaces(
    (_, { gaps }) => told.push(measuredPhases(experiment.phases, gaps)[0].pace.step_ms),
    () => now,
  )
  const step = (run: number, ms: number) => {
    now += ms
    paces.step(run, { adapter: 'gpu', experiment }, { phase: 0, metrics: {} })
  }
  for (const run of [1, 2, 3, 4]) paces.prepare(run)
  // The first steps on alone while the others compile, and each step takes long.
  for (let i = 0; i < 3; i++) step(1, 4000)
  for (const run of [2, 3, 4]) step(run, 2000)
  expect(told).toEqual([])
  for (let i = 0; i < 8; i++) for (const run of [1, 2, 3, 4]) step(run, 300)
  expect(new Set(told)).toEqual(new Set([300]))
  // Another takes the place of one that ended: until it steps, the others are no measure.
  told.length = 0
  paces.end(1)
  paces.prepare(5)
  for (let i = 0; i < 5; i++) for (const run of [2, 3, 4]) step(run, 1000)
  expect(told).toEqual([])
  step(5, 300)
  for (let i = 0; i < 8; i++) for (const run of [2, 3, 4, 5]) step(run, 300)
  expect(new Set(told)).toEqual(new Set([300]))
})
