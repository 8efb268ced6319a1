// Tests that the page says truthfully which step is looked into next.
import { afterEach, expect, test } from 'vitest'
import { initialState, type LabState, labStore } from '../../page/state/store.ts'
import { nextObservedWords } from './next_observed.ts'

const adapter = { is_software: true } as LabState['adapter']
const words = (state: Partial<LabState>): string | undefined => {
  labStore.setState({ ...initialState(), adapter, status: 'running', step: 23, ...state }, true)
  return nextObservedWords(labStore.getState())
}
afterEach(() => labStore.setState(initialState(), true))

test('the next step is named where it is measured, else the one that is, and why', () => {
  expect(words({ observing: 24 })).toBe('The next step, 24, is being measured.')
  expect(words({ observing: 25 })).toContain('Step 25 is measured next: a software adapter is slow')
  expect(words({ observing: 25 })).toContain('one step in 5')
  // The worker has not answered yet, or every step is measured.
  expect(words({})).toBe('The next step is measured while this is in view.')
  expect(words({ adapter: undefined, observing: 30 })).toBe(words({}))
})

test('a run that stands or is over measures no next step', () => {
  expect(words({ status: 'paused' })).toContain('present state')
  expect(words({ status: 'finished' })).toBeUndefined()
  expect(words({ status: 'idle' })).toBeUndefined()
})
