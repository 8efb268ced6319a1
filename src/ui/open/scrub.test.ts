import { beforeEach, expect, test } from 'vitest'
import type { RolloutSample, TokenTable } from '../../host/protocol/results.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { emptyKept } from '../../record/run/kept_run.ts'
import { viewStore } from '../shown/shown.ts'
import { uiStore } from '../shown/store.ts'
import {
  follow,
  keptSteps,
  nextKept,
  previousKept,
  scrubKept,
  scrubTo,
  showPlayed,
} from './scrub.ts'

const noSamples: readonly RolloutSample[] = []
const table = {} as TokenTable

/** Samples of steps 10, 20 and 30, a table of step 25. */
function kept() {
  const all = emptyKept()
  for (const step of [10, 20, 30]) all.samples.push(step, noSamples, 1)
  all.traces.push(25, table, 1)
  return all
}

const atStep = () => uiStore.getState().atStep

beforeEach(() => {
  labStore.setState({ ...initialState(), step: 40, kept: kept() })
  uiStore.setState({ atStep: undefined })
})

test('a recording that fills the page is shown at the step that the picture plays', () => {
  const recorded = { ...initialState(), step: 45 }
  showPlayed(12)
  expect(uiStore.getState().atStep).toBeUndefined()
  viewStore.setState({ recorded })
  showPlayed(12)
  expect(uiStore.getState().atStep).toBe(12)
  showPlayed(undefined)
  expect(uiStore.getState().atStep).toBeUndefined()
  // A run of the page is never moved so.
  labStore.setState({ runExperiment: recorded.experiment })
  showPlayed(12)
  expect(uiStore.getState().atStep).toBeUndefined()
  labStore.setState({ runExperiment: undefined })
  viewStore.setState({ recorded: undefined })
})

test('kept steps of all kinds are one row', () => {
  const all = kept()
  expect([40, 30, 25, 20, 10, 5].map((step) => previousKept(all, step))).toEqual([
    30,
    25,
    20,
    10,
    undefined,
    undefined,
  ])
  expect([0, 10, 20, 25, 30].map((step) => nextKept(all, step))).toEqual([
    10,
    20,
    25,
    30,
    undefined,
  ])
})

test('the keys walk over kept steps, and past the last one the page follows again', () => {
  const seen = [-1, -1, 1, 1, 1].map((direction) => {
    scrubKept(direction === 1 ? 1 : -1)
    return atStep()
  })
  expect(seen).toEqual([30, 25, 30, undefined, undefined])
})

test('before the first kept step the page stays where it is', () => {
  scrubTo(10)
  scrubKept(-1)
  expect(atStep()).toBe(10)
})

test('a step is shown as a whole number within the run, and the newest one is followed', () => {
  scrubTo(12.4)
  expect(atStep()).toBe(12)
  scrubTo(-5)
  expect(atStep()).toBe(0)
  scrubTo(40)
  expect(atStep()).toBeUndefined()
  scrubTo(3)
  follow()
  expect(atStep()).toBeUndefined()
})

test('a step of which several things are kept counts once', () => {
  expect(keptSteps(kept()).sort((a, b) => a - b)).toEqual([10, 20, 25, 30])
})
