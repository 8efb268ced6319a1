// One choice sets the advantage estimator of all phases of reinforcement.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parsed } from '../../document/experiment/testing.ts'
import { editField } from '../../page/client/edits.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { Algorithm, withEstimator } from './Algorithm.tsx'

const show = (...phases: readonly object[]) =>
  labStore.setState({ ...initialState(), experiment: parsed({ phases }) })
const html = (original = new Map<string, unknown>()) =>
  renderToStaticMarkup(<Algorithm original={original} />)
const chosen = () => /<option value="(\w*)" selected="">/.exec(html())?.[1]

beforeEach(() => {
  // Static markup shows what a store began with.
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
})
afterEach(() => {
  vi.restoreAllMocks()
  labStore.setState(initialState())
})

test('it shows what all phases have, and sets it in all of them', () => {
  const rl = (adv_estimator: string) => ({ kind: 'rl', adv_estimator })
  show({ kind: 'sft' }, rl('grpo'), rl('rloo'))
  expect(chosen()).toBe('')
  expect(html()).toContain('another in each phase')
  expect(editField('phases', withEstimator(labStore.getState().experiment, 'rloo'))).toBeUndefined()
  expect(chosen()).toBe('rloo')
  expect(labStore.getState().experiment.phases.map(({ kind }) => kind)).toEqual(['sft', 'rl', 'rl'])
  const was = (name: string) => new Map([['phases.1.adv_estimator', name]])
  expect(html(was('rloo'))).not.toContain('Put Algorithm back')
  expect(html(was('grpo'))).toContain('Put Algorithm back')
  show({ kind: 'sft' })
  expect(html()).toBe('')
})
