// What of the memory was planned.
import { expect, test } from 'vitest'
import { initialState } from '../../page/state/store.ts'
import { plannedOfRun } from './Memory.tsx'
import { bytesLike, partsOfMemory } from './memory_words.ts'

test('what was planned is of the run only while the settings are its own', () => {
  const state = { ...initialState(), plan: { bytes: 7, allowed_bytes: 9 } }
  const { experiment } = state
  expect(plannedOfRun(state)).toBeUndefined()
  expect(plannedOfRun({ ...state, runExperiment: { ...experiment } })).toBe(7)
  expect(plannedOfRun({ ...state, runExperiment: { ...experiment, seed: 77 } })).toBeUndefined()
})

const MIB = 1024 ** 2

test('the parts of a list have the unit of their sum', () => {
  const all = [10 * MIB, 1008 * 1024, 252 * 1024, 300 * MIB, 0]
  expect(all.map((bytes) => bytesLike(bytes, 10 * MIB))).toEqual([
    '10.0 MiB',
    '0.98 MiB',
    '0.25 MiB',
    '300 MiB',
    '0.0 MiB',
  ])
  expect(bytesLike(100, 500)).toBe('100 B')
})

test('what is more than the settings say is named', () => {
  const parts = { total: 10 * MIB, planned: 8 * MIB }
  expect(partsOfMemory({ ...parts, panels: 0.5 * MIB })).toBe(
    'Training takes 8.0 MiB of it, as the settings say. 0.50 MiB is for what open panels show, and 1.5 MiB for copies on their way from the GPU.',
  )
  expect(partsOfMemory({ ...parts, panels: 0 })).toContain('2.0 MiB is for copies')
  expect(partsOfMemory({ ...parts, panels: 2 * MIB })).toContain('2.0 MiB is for what open panels')
})
