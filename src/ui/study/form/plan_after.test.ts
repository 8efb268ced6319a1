// A plan stays while the form says something that cannot be planned, but not over to the other way
// of saying what is compared.
import { expect, test } from 'vitest'
import { armsOf, DOCUMENT, studyOf } from '../../../document/study/testing.ts'
import { planAfter } from './StudyForm.tsx'

test('a mistake keeps the plan before; the other way to compare begins without one', () => {
  const made = { ok: true, study: studyOf(DOCUMENT), arms: armsOf(DOCUMENT), runs: 8 } as const
  const wrong = { ok: false, problems: new Map() } as const
  const shown = planAfter(undefined, made, 'arms')
  expect(shown?.plan).toBe(made)
  expect(planAfter(shown, made, 'arms')).toBe(shown)
  expect(planAfter(shown, wrong, 'arms')).toBe(shown)
  expect(planAfter(shown, wrong, 'values')).toBeUndefined()
})
