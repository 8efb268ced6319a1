// What the button of an experiment says while a run is on.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NOTHING_DONE } from '../../../document/course/progress.ts'
import { decodeLink } from '../../../document/links/link.ts'
import { initialState, type LabState, labStore } from '../../../page/state/store.ts'
import { tryIt } from '../base/lesson.ts'
import { progressStore } from '../base/progress.ts'
import { notYet, seen, stillTraining } from '../base/run_facts.ts'
import { calledAs, Try } from './Try.tsx'

const LINK = 'v=1&p=tiny-grpo&phases.1.steps=40'
const asked = decodeLink(LINK).experiment
const TRY = tryIt('Train.', LINK, () => notYet('Not yet.'))

beforeEach(() => {
  // Static markup shows what a store began with.
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
  vi.spyOn(progressStore, 'getInitialState').mockImplementation(progressStore.getState)
})
afterEach(() => {
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
  progressStore.setState({}, true)
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

test('without a GPU it cannot be pressed, and says why and what is needed', () => {
  const error = { code: 'no_webgpu', message: '' } as unknown as LabState['error']
  labStore.setState({ ...initialState(), error }, true)
  const html = renderToStaticMarkup(<Try name="a" of={TRY} />)
  expect(html).toMatch(/<button[^>]*disabled/)
  // In a line of its own: beside two buttons it would wrap around them.
  expect(html).toMatch(/<p class="soft">This needs a GPU/)
  expect(html).toContain('What training needs')
  // Nor while a recording plays: no other run can be ended for it.
  const other = decodeLink('v=1&p=first-steps').experiment
  labStore.setState({ ...initialState(), error, status: 'running', runExperiment: other }, true)
  const replaying = renderToStaticMarkup(<Try name="a" of={TRY} />)
  expect(replaying).toContain('Train it</button>')
  expect(replaying).not.toContain('does not count')
})

/** What is said below the button, as text. */
function verdict(change: Partial<LabState>, results?: Readonly<Record<string, string>>, of = TRY) {
  labStore.setState({ ...initialState(), ...change }, true)
  if (results) progressStore.setState({ '': { ...NOTHING_DONE, done: ['a'], results } }, true)
  const html = renderToStaticMarkup(<Try name="a" of={of} />)
  return /role="status">(.*)<\/div>/s.exec(html)?.[1].replace(/<[^>]*>/g, '')
}

test('what was passed keeps its result, whatever run is on the page', () => {
  const other = decodeLink('v=1&p=first-steps').experiment
  expect(verdict({ runExperiment: other })).toContain('does not count')
  const results = { a: 'From 23.3 % to 51.6 %.' }
  const kept = 'Passed. From 23.3 % to 51.6 %.'
  expect(verdict({ runExperiment: other }, results)).toBe(kept)
  expect(verdict({}, results)).toBe(kept)
  // Its own run, once more, says how far it is.
  expect(verdict({ runExperiment: asked }, results)).toBe(`${kept}Not yet.`)
  const met = tryIt('Train.', LINK, () => seen('To 60 %.'))
  expect(verdict({ runExperiment: asked }, results, met)).toBe('Passed. To 60 %.')
  // Earlier versions kept no result.
  expect(verdict({ runExperiment: other }, {})).toBe('Passed. ')
})

test('how far the run is stands once: on the button while it is on', () => {
  const waits = tryIt('Train.', LINK, () => stillTraining('The run has taken 22 of 106 steps.'))
  const said = (status: LabState['status']) => {
    labStore.setState({ ...initialState(), status, runExperiment: asked, step: 22 }, true)
    return renderToStaticMarkup(<Try name="a" of={waits} />)
  }
  expect(said('running')).toContain('step 22 of')
  expect(said('running')).not.toContain('has taken')
  // A run that ended early.
  expect(said('finished')).toContain('has taken')
})

test('an experiment that a lesson has changed is called by the lesson', () => {
  expect(calledAs(asked, 'tiny-grpo', 'A policy').name).toBe('A policy')
  const { experiment } = decodeLink('v=1&p=tiny-grpo')
  expect(calledAs(experiment, 'tiny-grpo', 'A policy')).toBe(experiment)
  const named = { ...asked, name: 'mine' }
  expect(calledAs(named, 'tiny-grpo', 'A policy')).toBe(named)
})
