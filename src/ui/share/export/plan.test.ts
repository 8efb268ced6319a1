import { expect, test } from 'vitest'
import { pageWords } from './plan.ts'

test('what a run that is over cannot be is offered by the names of the dialog', () => {
  expect(pageWords('phases: phase 1 is over at this checkpoint; export with --to verl')).toBe(
    'phases: phase 1 is over at this checkpoint; choose these settings untrained, or verl',
  )
})
