// How far a study is: what its run does, and what is left of it.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { fingerprintOf } from '../../../document/study/fingerprint.ts'
import { plannedRuns } from '../../../document/study/queue.ts'
import { armsOf, studyOf } from '../../../document/study/testing.ts'
import { begunRuns } from '../../../page/study/begun_runs.ts'
import { analysisOf, EMPTY } from '../../../page/study/study_state.ts'
import { leftWords, Progress, steady } from './Progress.tsx'
import { StudyGrid } from './StudyGrid.tsx'

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

test('a run that paused stands at its step, in its cell and in the bar', () => {
  const [study, arms] = [studyOf(), armsOf()]
  const [first] = plannedRuns(study, arms)
  const kept_steps = new Map([[fingerprintOf(first.experiment), 6]])
  const state = { ...on, is_training: false, kept_steps }
  expect(
    renderToStaticMarkup(<Progress state={state} time={undefined} />).match(
      /<progress [^>]*>/,
    )?.[0],
  ).toContain('value="0.2"')
  const analysed = analysisOf(state)
  if (!analysed) throw new Error('expected an analysis')
  const grid = renderToStaticMarkup(
    <StudyGrid
      analysis={analysed.analysis}
      measure={study.measure}
      seeds={study.seeds}
      begun={begunRuns(state)}
    />,
  )
  expect(grid.match(/paused at 6 of 30/g)).toHaveLength(1)
  expect(grid.match(/>waits</g)).toHaveLength(7)
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
