// What the receiver of a link is told of the sender's result.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import { decodeSummary, encodeSummary } from '../../document/links/summary.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { Series } from '../../host/columns/series.ts'
import { asOfRun, isOfLink, resultOf } from '../../page/state/result.ts'
import { shareStore } from '../../page/state/share_store.ts'
import { initialState, type LabState, labStore } from '../../page/state/store.ts'
import { mainMetric } from '../shown/measure/main_measure.ts'
import { greedyAccuracy, heldOutReward } from '../shown/metrics.ts'
import { Reference } from './Reference.tsx'
import { Sent } from './Sent.tsx'
import { overlayOf } from './sender_overlay.ts'
import { experiment, run } from './testing.ts'

const said = () => renderToStaticMarkup(<Reference />)

beforeEach(() => {
  for (const store of [shareStore, labStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  const told = resultOf(run(0.9296875), mainMetric)
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

/** What a link tells of a run of it with these curves, whose ends are the numbers. */
function sendRun(of: Experiment, ends: Readonly<Record<string, number>>): LabState {
  const series = new Map(
    Object.entries(ends).map(([metric, end]) => {
      const column = new Series()
      column.push(0, 0)
      column.push(45, end)
      return [metric, column]
    }),
  )
  const state = { ...run(0), experiment: of, runExperiment: of, runDocument: of, series }
  const made = resultOf(state, mainMetric)
  if (!made) throw new Error('no result')
  const { result } = decodeSummary(encodeSummary(made))
  shareStore.setState({ result, experiment: of })
  labStore.setState({ ...initialState(), experiment: of, document: of } as LabState)
  return state
}
const sent = () => renderToStaticMarkup(<Sent />)
const stories = presetOf('story-ends')?.experiment
const HAPPY_END = 'val-aux/story/happy_end/mean@1'
const GREEDY = 'val-aux/story/acc/greedy'

test('a run that is rewarded for one thing is told by that, to the receiver too', () => {
  if (!stories) throw new Error('no preset')
  const state = sendRun(stories, { [GREEDY]: 1, [HAPPY_END]: 0.625 })
  expect(sent()).toContain('Happy end: 62.5\u00a0% of new stories, sampled.')
  expect(sent()).not.toContain('100.0')
  expect(said()).toContain('<dt>held-out happy end, sampled</dt><dd>62.5\u00a0%</dd>')
  expect(said()).not.toContain('greedy')
  // Its curve lies behind the receiver's own chart.
  const { result } = shareStore.getState()
  const line = result && overlayOf(result, stories).series(HAPPY_END)
  expect(line).toMatchObject({ steps: [0, 45], values: [0, 0.625], length: 2 })
  labStore.setState(state)
  expect(said()).toContain('Yours is identical')
})

test('a link that was made before tells only the steps of such a run', () => {
  if (!stories) throw new Error('no preset')
  const state = sendRun(stories, { [GREEDY]: 1 })
  expect(sent()).toContain('The sender trained this for 45 steps.')
  expect(said()).not.toContain('held-out')
  // Its lines are all that can be compared.
  const column = new Series()
  column.push(45, 0.5)
  labStore.setState({ ...state, series: new Map([...state.series, [HAPPY_END, column]]) })
  expect(said()).toContain('Yours is identical')
})

test('a run with a composed reward is told by the reward, which may exceed 1', () => {
  const parts = [{ id: 'exact_match', weight: 2 }] as Experiment['reward']['parts']
  const of = { ...experiment, reward: { ...experiment.reward, parts } }
  const { task, validation } = of
  sendRun(of, { [greedyAccuracy(task.id)]: 1, [heldOutReward(task.id, validation.n)]: 1.5 })
  expect(sent()).toContain('earns a reward of 1.5 for sampled answers to new problems')
  expect(said()).toContain('<dt>held-out reward, sampled</dt><dd>1.5</dd>')
})
