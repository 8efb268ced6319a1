// How far a study is: what its run does, and what is left of it.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { armsOf, studyOf } from '../../../document/study/testing.ts'
import { EMPTY } from '../../../page/study/study_state.ts'
import { leftWords, Progress, steady } from './Progress.tsx'

const on = { ...EMPTY, study: studyOf(), arms: armsOf(), is_training: true }
const drawn = (present: (typeof EMPTY)['present'], seconds?: number) =>
  renderToStaticMarkup(
    <Progress
      state={{ ...on, present }}
      time={seconds === undefined ? undefined : { seconds, isMeasured: true }}
    />,
  ).replaceAll(/<[^>]*>/g, ' ')
const run = { name: 'slow, seed 1', of: 30, step: 0, waits: false }

test('a study says what it prepares, then its steps, and how many runs are on', () => {
  expect(drawn([])).toContain('opening the GPU')
  const message = 'Preparing: 5 parts ready'
  expect(drawn([{ ...run, message }])).toContain('preparing: 5 parts ready')
  const two = drawn([
    { ...run, step: 12 },
    { ...run, waits: true },
  ])
  expect(two).toMatch(/slow, seed 1:\s+step 12 of 30\s+\(and 1 more at once\)/)
  expect(drawn([{ ...run, waits: true }])).toContain('waits for memory')
})

test('what is left is said in round numbers, which do not go up and down', () => {
  expect(drawn([run], 150)).toContain('0 of 8 runs, about 3 min left.')
  expect(drawn([run])).toContain('0 of 8 runs.')
  expect([3, 41, 55, 61, 3599, 3700].map(leftWords)).toEqual([
    '10 s',
    '50 s',
    '1 min',
    '2 min',
    '1 h 00 min',
    '1 h 02 min',
  ])
  expect([steady(undefined, 9), steady(100, 110), steady(100, 90), steady(100, 200)]).toEqual([
    9, 100, 90, 200,
  ])
})
