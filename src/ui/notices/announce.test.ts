import { expect, test } from 'vitest'
import { initialState, type LabState } from '../../page/state/store.ts'
import { QUIET_MS, quietFor, statusSentence } from './announce.ts'

const state = (change: Partial<LabState>): LabState => {
  const first = initialState()
  return { ...first, runExperiment: first.experiment, ...change }
}

test('the sentence follows the status and the phase, not the steps', () => {
  const running = state({ status: 'running', phase: 0, step: 3 })
  expect(statusSentence(running)).toMatch(/^Training, phase 1 of \d: /)
  expect(statusSentence({ ...running, step: 4 })).toBe(statusSentence(running))
  expect(statusSentence({ ...running, phase: 1 })).not.toBe(statusSentence(running))
  expect(statusSentence({ ...running, status: 'paused' })).toMatch(/^Paused, phase 1/)
  expect(statusSentence(state({ status: 'idle', runExperiment: undefined }))).toBe('Ready to train')
  expect(statusSentence(state({ status: 'failed' }))).toBe('Stopped by an error')
})

test('something new waits until ten seconds have passed since the last', () => {
  expect(quietFor(undefined, 5)).toBe(0)
  expect(quietFor(1000, 1000)).toBe(QUIET_MS)
  expect(quietFor(1000, 1000 + QUIET_MS - 1)).toBe(1)
  expect(quietFor(1000, 1000 + QUIET_MS)).toBe(0)
})
