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
