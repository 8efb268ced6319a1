// What goes with a link unasked, and what a person may send.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decodeSummary } from '../../document/links/summary.ts'
import { viewParts } from '../../document/links/view.ts'
import { openPage, withTestPages } from '../../page/client/testing.ts'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { openedStore } from '../open/opened_run.ts'
import { viewStore } from '../shown/shown.ts'
import { linkOf, noCurves, usualChoice } from './choice_link.ts'
import { experiment, run } from './testing.ts'

/** The result that the usual link has. */
function sent() {
  const { r } = viewParts(new URL(linkOf(usualChoice(), 'learn').url, 'http://a.b').hash)
  return r === undefined ? undefined : decodeSummary(r).result
}

withTestPages()
beforeEach(() => openPage())
afterEach(() => {
  labStore.setState(initialState(), true)
  viewStore.setState({ viewed: undefined, log: undefined })
  openedStore.setState({ opened: undefined })
  libraryStore.setState({ entries: [] })
})

test('the curves go with the link of a run that is over, and of no other unasked', () => {
  labStore.setState({ experiment })
  expect([sent(), noCurves(false)]).toEqual([undefined, 'there is no run yet'])
  labStore.setState(run(0.5, 'running'), true)
  expect([sent(), noCurves(false)]).toEqual([undefined, undefined])
  labStore.setState(run(0.5), true)
  expect(sent()).toMatchObject({ steps: 45, lines: [{ values: [expect.closeTo(1 / 3), 0.5] }] })
  expect(linkOf(usualChoice(), 'learn').opens).toContain('1 curve of 45 steps')
})

test('settings that have left the run take its curves along only with the run', () => {
  labStore.setState({ ...run(0.5), experiment: { ...experiment, seed: 77 } }, true)
  expect(sent()).toBeUndefined()
  const asked = { ...usualChoice(), withCurves: true }
  expect(linkOf(asked, 'learn').url).not.toContain('r=')
  expect(linkOf({ ...asked, ofRun: true }, 'learn').url).toContain('#r=')
})

test('curves that would make the link so long that programs cut it are left out', () => {
  const steering = Array.from({ length: 60 }, (_, i) => ({
    step: i + 1,
    kind: 'set' as const,
    path: 'actor.optim.lr',
    value: 1e-3 + i * 1.234e-5,
  }))
  const long = { ...experiment, steering }
  const of = { experiment: long, runExperiment: long, runDocument: long }
  labStore.setState({ ...run(0.5), ...of }, true)
  expect(sent()).toBeUndefined()
  expect(linkOf({ ...usualChoice(), withCurves: true }, 'learn').url).toContain('#r=')
})

test('a past run sends its curves and the name of what it was trained on', () => {
  const { adapter: _, ...past } = run(0.5)
  viewStore.setState({ viewed: { ...past, adapter: undefined } })
  openedStore.setState({ opened: { id: 'past', unreadable: 0, isElsewhere: false } })
  libraryStore.setState({ entries: [{ id: 'past', header: { adapter: 'Old GPU' } }] as never })
  expect(sent()).toMatchObject({ adapter: 'Old GPU', steps: 45 })
  // A log does not say its settings: a link opens others.
  viewStore.setState({ log: { kind: 'verl', file: 'a.jsonl', remarks: [] } })
  expect(noCurves(false)).toBe('what is shown comes from a log')
})
