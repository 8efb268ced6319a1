// The numbers of a run say of which step they are, where that is not the shown one.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { OPENING } from '../../../document/presets/presets.ts'
import { Series } from '../../../host/columns/series.ts'
import { adapter } from '../../../page/client/testing.ts'
import { estimatorStore } from '../../../page/paces/estimator.ts'
import { initialState, type LabState, labStore } from '../../../page/state/store.ts'
import { greedyAccuracy, layerEntropy, REWARD } from '../../shown/metrics.ts'
import { viewStore } from '../../shown/shown.ts'
import { readShownStep } from '../../shown/shown_step.ts'
import { uiStore } from '../../shown/store.ts'
import { VERL_LOG } from '../../shown/testing.ts'
import { RunNumbers } from './RunNumbers.tsx'

const { experiment } = OPENING

function seriesOf(...steps: readonly number[]): Series {
  const series = new Series()
  for (const step of steps) series.push(step, 0.5)
  return series
}

const columnsOf = (value: number) => [Float64Array.of(1), Float64Array.of(value)] as const

/** The text of each number. */
function said(): Record<string, string> {
  const html = renderToStaticMarkup(<RunNumbers shown={readShownStep()} />)
  const found = html.matchAll(/data-testid="([a-z]+)-value"[^>]*>(.*?)<\/dd>/g)
  return Object.fromEntries([...found].map(([, id, text]) => [id, text.replace(/<.*?>/g, '')]))
}

afterEach(() => {
  vi.restoreAllMocks()
  uiStore.setState({ atStep: undefined })
  labStore.setState(initialState(), true)
  estimatorStore.setState(estimatorStore.getInitialState(), true)
  viewStore.setState({ viewed: undefined, log: undefined })
})

test('a number of an earlier step says of which', () => {
  const last = experiment.model.num_hidden_layers
  labStore.setState({
    runExperiment: experiment,
    step: 43,
    series: new Map([
      [REWARD, seriesOf(41, 42, 43)],
      [greedyAccuracy(experiment.task.id), seriesOf(0, 40)],
      [layerEntropy(last), seriesOf(30, 42)],
    ]),
  })
  expect(said()).toEqual({
    reward: '50.0\u00a0%',
    accuracy: '50.0\u00a0% step 40',
    entropy: '0.500 nats step 42',
  })
  uiStore.setState({ atStep: 42 })
  expect(said()).toEqual({
    reward: '50.0\u00a0%',
    accuracy: '50.0\u00a0% step 40',
    entropy: '0.500 nats',
  })
})

test('the entropy of a log is the final policy’s, where the lab wrote it', () => {
  const log = (...names: readonly string[]) => {
    const series = new Map(names.map((name, i) => [name, Series.of(...columnsOf(i + 1))]))
    viewStore.setState({
      viewed: { ...initialState(), runExperiment: experiment, step: 1, series },
      log: VERL_LOG,
    })
    return said().entropy
  }
  const final = layerEntropy(experiment.model.num_hidden_layers)
  expect(log('actor/entropy', final)).toBe('2.000 nats')
  expect(log('actor/entropy')).toBe('1.000 nats')
})

test('of a log with several evaluations the number says which it is of', () => {
  const heldOut = () => {
    const html = renderToStaticMarkup(<RunNumbers shown={readShownStep()} />)
    return /Held-out.*?<\/dt>/.exec(html)?.[0].replaceAll(/<.*?>/g, '')
  }
  const show = (...metrics: string[]) =>
    labStore.setState({
      runExperiment: experiment,
      step: 43,
      series: new Map(metrics.map((metric) => [metric, seriesOf(43)])),
    })
  viewStore.setState({ viewed: undefined, log: VERL_LOG })
  show('val-core/A/acc/mean@1')
  expect(heldOut()).toBe('Held-out')
  show('val-core/A/acc/mean@1', 'val-core/B/acc/mean@1')
  expect(heldOut()).toBe('Held-out, A')
})

test('the time left includes phases that have not run, where their time can be estimated', () => {
  const left = { seconds: 11, untimedSteps: 45, isAbout: false }
  labStore.setState({
    runExperiment: experiment,
    status: 'running',
    step: 1,
    adapter,
    timing: { ...initialState().timing, left },
    series: new Map([[REWARD, seriesOf(1)]]),
  })
  const says = () => {
    const html = renderToStaticMarkup(<RunNumbers shown={readShownStep()} />)
    const [, label, text] = /<dt>(Time left[^<]*)<.*?>([^<]*)<\/dd>/s.exec(html) ?? []
    // The words above it are always the same: columns beside it stand still.
    expect(label).toBe('Time left')
    return text
  }
  /** Another run's time is said at once. */
  const another = () => labStore.setState(({ run }) => ({ run: run + 1 }))
  const known = (seconds: number, isMeasured: boolean) => {
    another()
    estimatorStore.setState({ estimate: () => ({ seconds, isMeasured }) })
  }
  expect(says()).toBe('over 11 s')
  known(95, false)
  expect(says()).toBe('about 2 min')
  known(234, true)
  expect(says()).toBe('about 4 min')
  known(50, true)
  expect(says()).toBe('about 50 s')
  // Less than what its own steps say is no news.
  known(5, true)
  expect(says()).toBe('over 11 s')
  estimatorStore.setState(estimatorStore.getInitialState(), true)
  const timed = (time: Partial<typeof left>) => {
    another()
    labStore.setState({ timing: { ...initialState().timing, left: { ...left, ...time } } })
  }
  timed({ seconds: 748 })
  expect(says()).toBe('over 12 min')
  timed({ seconds: 234, untimedSteps: 0, isAbout: true })
  expect(says()).toBe('about 4 min')
  timed({ seconds: 234, untimedSteps: 0 })
  expect(says()).toBe('3 min 50 s')
})

test('the time left of a run does not jump with its newest steps', () => {
  const says = (at_ms: number, seconds: number) => {
    const left = { seconds, untimedSteps: 0, isAbout: false }
    labStore.setState({
      run: 1000,
      runExperiment: experiment,
      status: 'running',
      step: 1,
      arrivals: [{ step: 1, at_ms }],
      timing: { ...initialState().timing, left },
    })
    const html = renderToStaticMarkup(<RunNumbers shown={readShownStep()} />)
    return /Time left.*?<dd[^>]*>([^<]*)</s.exec(html)?.[1]
  }
  expect(says(0, 40)).toBe('40 s')
  expect(says(1000, 70)).toBe('45 s')
  expect(says(2000, 35)).toBe('40 s')
})

test('the numbers leave the words on how the run is their room where they say more', () => {
  const room = (state: Partial<LabState>) => {
    labStore.setState({ runExperiment: experiment, status: 'running', isPausing: false, ...state })
    const html = renderToStaticMarkup(<RunNumbers shown={readShownStep()} />)
    return /<dl(?: class="(\w+)")?>/.exec(html)?.[1]
  }
  expect(room({ series: new Map() })).toBe('awaited')
  const series = new Map([[REWARD, seriesOf(1)]])
  expect(room({ series, step: 1 })).toBeUndefined()
  expect(room({ step: 1, isPausing: true })).toBe('telling')
  // The end is measured.
  const { phases } = experiment
  const [phase, phase_step] = [phases.length - 1, phases.at(-1)?.steps ?? 0]
  expect(room({ step: 45, phase, phase_step })).toBe('telling')
})

test('scores of a log are shares beside an accuracy, each within 0 and 1, else as logged', () => {
  const show = (heldOut: string, reward: number, mean: number) => {
    const series = new Map([
      [REWARD, Series.of(...columnsOf(reward))],
      [heldOut, Series.of(...columnsOf(mean))],
    ])
    labStore.setState({ runExperiment: experiment, step: 1, series })
    const { reward: trained, accuracy } = said()
    return [trained, accuracy]
  }
  viewStore.setState({ viewed: undefined, log: VERL_LOG })
  expect(show('val-core/A/acc/mean@1', 2.4, 0.5)).toEqual(['2.4', '50.0\u00a0%'])
  expect(show('val-core/A/acc/mean@1', 0.5, 0.25)).toEqual(['50.0\u00a0%', '25.0\u00a0%'])
  expect(show('val-core/A/reward/mean@1', 0.5, 0.25)).toEqual(['0.5', '0.25'])
})

test('a number that a log lacks takes no room', () => {
  const shownOf = (...metrics: string[]) => {
    const series = new Map(metrics.map((metric) => [metric, Series.of(...columnsOf(1))]))
    labStore.setState({ runExperiment: experiment, step: 1, series })
    const html = renderToStaticMarkup(<RunNumbers shown={readShownStep()} />)
    return ['reward-number', 'held-out-number'].filter(
      (name) => !new RegExp(`${name}" hidden`).test(html),
    )
  }
  viewStore.setState({ viewed: undefined, log: VERL_LOG })
  expect(shownOf(REWARD)).toEqual(['reward-number'])
  expect(shownOf('val-core/A/acc/mean@1')).toEqual(['held-out-number'])
  viewStore.setState({ log: undefined })
  expect(shownOf(REWARD)).toEqual(['reward-number', 'held-out-number'])
})
