// The time that a study still takes is that of its missing runs.
import { expect, test } from 'vitest'
import { fingerprintOf } from '../../document/study/fingerprint.ts'
import { plannedRuns } from '../../document/study/queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../../document/study/testing.ts'
import { EMPTY } from './study_state.ts'
import { timeToCome } from './time_to_come.ts'

const [study, arms] = [studyOf(), armsOf()]
const results = plannedRuns(study, arms)
  .slice(0, 2)
  .map((run) => madeUpResult(study, run, 0.8))
/** A second for each step. */
const estimate = (_: object, step: number) => ({ seconds: 30 - step, isMeasured: true })

test('every run counts as it is estimated alone, those that have begun from their step', () => {
  const state = { ...EMPTY, study, arms }
  expect(timeToCome(state, estimate)).toEqual({ seconds: 8 * 30, isMeasured: true })
  const present = [{ name: 'slow, seed 2', of: 30, step: 12, waits: false }]
  const some = { ...state, results, present, is_training: true }
  expect(timeToCome(some, estimate)?.seconds).toBe(6 * 30 - 12)
  const third = plannedRuns(study, arms)[3].experiment
  const kept_steps = new Map([[fingerprintOf(third), 5]])
  expect(timeToCome({ ...some, kept_steps }, estimate)?.seconds).toBe(6 * 30 - 12 - 5)
  const guessed = timeToCome(some, (_, step) => ({ seconds: 1, isMeasured: step > 0 }))
  expect(guessed).toEqual({ seconds: 6, isMeasured: false })
})

test('where the page knows nothing, the runs that ended tell', () => {
  const state = { ...EMPTY, study, arms }
  expect(timeToCome(state, () => undefined)).toBeUndefined()
  expect(timeToCome({ ...state, results }, () => undefined)?.seconds).toBe(6 * 3)
  const all = plannedRuns(study, arms).map((run) => madeUpResult(study, run, 0.8))
  expect(timeToCome({ ...state, results: all }, estimate)).toBeUndefined()
})

test('of a search the rounds to come count too', () => {
  const document = {
    ...DOCUMENT,
    arms: [],
    grid: { 'actor.optim.lr': [1e-4, 3e-4, 1e-3, 3e-3] },
    search: { kind: 'random', arms: 4, finalists: 2, choosing: 2 },
  }
  // Four settings with two seeds choose, and two meet on the two others.
  const state = { ...EMPTY, study: studyOf(document), arms: armsOf(document) }
  expect(timeToCome(state, estimate)?.seconds).toBeCloseTo((4 * 2 + 2 * 2) * 30)
})
