// What the button of an experiment says while a run is on.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decodeLink } from '../../../document/links/link.ts'
import { initialState, type LabState, labStore } from '../../../page/state/store.ts'
import { tryIt } from '../base/lesson.ts'
import { notYet } from '../base/run_facts.ts'
import { Try } from './Try.tsx'

const LINK = 'v=1&p=tiny-grpo&phases.1.steps=40'
const asked = decodeLink(LINK).experiment
const TRY = tryIt('Train.', LINK, () => notYet('Not yet.'))

beforeEach(() => {
  // Static markup shows what a store began with.
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
})
afterEach(() => {
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
})

function button(change: Partial<LabState>): string | undefined {
  labStore.setState({ ...initialState(), ...change }, true)
  return /<button.*?<\/button>/s.exec(renderToStaticMarkup(<Try name="a" of={TRY} />))?.[0]
}

test('while the lesson’s own run is on the button says how far it is, and cannot be pressed', () => {
  const going = button({ status: 'running', runExperiment: asked, experiment: asked, step: 22 })
  expect(going).toContain('Running: step 22 of')
  expect(going).toContain('disabled')
  expect(button({ status: 'paused', runExperiment: asked, step: 3 })).toContain('Paused: step 3')
})

test('another run is ended for it, and before and after a run it can be trained', () => {
  const other = decodeLink('v=1&p=first-steps').experiment
  const busy = button({ status: 'running', runExperiment: other })
  expect(busy).toContain('End this run and train it')
  expect(busy).not.toContain('disabled')
  expect(button({ status: 'finished', runExperiment: asked })).toContain('Train it')
  expect(button({ status: 'idle' })).not.toContain('disabled')
})
