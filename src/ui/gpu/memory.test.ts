// What of the memory was planned.
import { expect, test } from 'vitest'
import { initialState } from '../../page/state/store.ts'
import { plannedOfRun } from './Memory.tsx'

test('what was planned is of the run only while the settings are its own', () => {
  const state = { ...initialState(), plan: { bytes: 7, allowed_bytes: 9 } }
  const { experiment } = state
  expect(plannedOfRun(state)).toBeUndefined()
  expect(plannedOfRun({ ...state, runExperiment: { ...experiment } })).toBe(7)
  expect(plannedOfRun({ ...state, runExperiment: { ...experiment, seed: 77 } })).toBeUndefined()
})
