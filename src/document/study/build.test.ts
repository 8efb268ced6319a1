// Arms taken out of a study.
import { expect, test } from 'vitest'
import { withoutArm } from './build.ts'
import { missingRuns, plannedRuns } from './queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from './testing.ts'

test('an arm that is taken out leaves the others with their runs, also a point of a grid', () => {
  const document = { ...DOCUMENT, arms: [], grid: { 'actor.optim.lr': [0.0001, 0.001, 0.002] } }
  const study = studyOf(document)
  const arms = armsOf(document)
  const known = plannedRuns(study, arms).map((run) => madeUpResult(study, run, 0.8))
  const rest = withoutArm(study, arms, 'lr 0.001')
  expect(rest && armsOf(rest).map(({ name }) => name)).toEqual(['lr 1e-4', 'lr 0.002'])
  expect(rest && missingRuns(rest, armsOf(rest), known)).toEqual([])
})

test('no arm can be taken out of two, or of a search', () => {
  expect(withoutArm(studyOf(), armsOf(), 'slow')).toBeUndefined()
  const document = { ...DOCUMENT, search: { kind: 'random', arms: 2 } }
  expect(withoutArm(studyOf(document), [...armsOf(), ...armsOf()], 'slow')).toBeUndefined()
})
