// What the receiver of a link is told of the sender's result.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import { decodeSummary, encodeSummary } from '../../document/links/summary.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { Series } from '../../host/columns/series.ts'
import { ADAPTER } from '../../host/protocol/testing.ts'
import { asOfRun, isOfLink, resultOf } from '../../page/state/result.ts'
import { shareStore } from '../../page/state/share_store.ts'
import { initialState, type LabState, labStore } from '../../page/state/store.ts'
import { greedyAccuracy } from '../shown/metrics.ts'
import { Reference } from './Reference.tsx'
import { Sent } from './Sent.tsx'

const [{ experiment }] = PRESETS

function run(end: number): LabState {
  const column = new Series()
  column.push(0, 1 / 3)
  column.push(45, end)
  return {
    ...initialState(),
    experiment,
    runExperiment: experiment,
    runDocument: experiment,
    adapter: { ...ADAPTER, is_software: false },
    status: 'finished',
    step: 45,
    series: new Map([[greedyAccuracy(experiment.task.id), column]]),
  }
}
const said = () => renderToStaticMarkup(<Reference />)

beforeEach(() => {
  for (const store of [shareStore, labStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  const told = resultOf(run(0.9296875))
  if (!told) throw new Error('no result')
  const { result } = decodeSummary(encodeSummary({ ...told, adapter: 'another' }))
  shareStore.setState({ result, experiment })
})
afterEach(() => {
  vi.restoreAllMocks()
  shareStore.setState({ result: undefined })
  labStore.setState(initialState())
})

test('before a run it says what the sender got, and after one whether that is the same', () => {
  labStore.setState(initialState())
  expect(renderToStaticMarkup(<Sent />)).toContain('The sender’s run solves 93.0\u00a0% of')
  expect(said()).toContain('are drawn in grey behind yours')
  expect(said()).not.toContain('identical')
  labStore.setState(run(0.9296875))
  expect(said()).toContain('Yours is identical in every value that the link holds.')
  labStore.setState(run(0.9))
  expect(said()).not.toContain('identical')
})

test('a sender’s run that had not reached its end says so', () => {
  labStore.setState(initialState())
  const planned = plannedStretches(experiment, experiment.steering).at(-1)?.to ?? 0
  expect(planned).toBeGreaterThan(45)
  expect(said()).toContain(`45 of ${planned} planned steps`)
  const [{ result }] = [shareStore.getState()]
  if (!result) throw new Error('no result')
  shareStore.setState({ result: { ...result, steps: planned } })
  expect(said()).toContain(`${planned} steps on another`)
})

test('a run whose settings were changed since can still be what a link opens', () => {
  const left = { ...run(0.9), experiment: { ...experiment, seed: 77 } }
  expect([isOfLink(left), isOfLink(asOfRun(left))]).toEqual([false, true])
})
