// What is said of the time of a run's steps.
import { expect, test } from 'vitest'
import { largestStages } from './step_times.ts'

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
