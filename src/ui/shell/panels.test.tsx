// A panel written as CONTRIBUTING.md says: one component of its props, one line in a list.
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeEach, expect, test, vi } from 'vitest'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import type { RolloutSample } from '../../host/protocol/results.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { emptyKept } from '../../record/run/kept_run.ts'
import { formatNumber } from '../kit/format.ts'
import { follow, scrubTo } from '../open/scrub.ts'
import { type PanelProps, Panels } from '../part/Panels.tsx'
import { keepWritten, TEXT_MS } from '../shown/readout.ts'
import { viewStore } from '../shown/shown.ts'
import { uiStore } from '../shown/store.ts'

function Loss({ shown }: PanelProps) {
  const { step, metric, samples, traces } = shown
  return (
    <p>
      {`step ${step}: loss ${formatNumber(metric('loss'))}, samples of ${samples?.step ?? '–'}, table of ${traces?.step ?? '–'}`}
    </p>
  )
}

const PANELS = [{ name: 'The loss', Panel: Loss }]
const onScreen = () => renderToStaticMarkup(<Panels panels={PANELS} />)

const sample = { prompt: '1+1=' } as RolloutSample

/** A run of 30 steps, with samples at every tenth step and no table. */
function run(loss: (step: number) => number) {
  const series = new Map<string, Series>()
  const kept = emptyKept()
  for (let step = 0; step <= 30; step++) {
    appendMetrics(series, step, { loss: loss(step) })
    if (step % 10 === 0) kept.samples.push(step, [sample], 1)
  }
  return { ...initialState(), series, kept, step: 30 }
}

beforeEach(() => {
  labStore.setState(run((step) => step))
  viewStore.setState({ viewed: undefined })
  uiStore.setState({ atStep: undefined })
})

test('a panel shows the newest step, and the step that was scrubbed to', () => {
  expect(onScreen()).toBe('<p>step 30: loss 30, samples of 30, table of –</p>')
  scrubTo(17)
  expect(onScreen()).toBe('<p>step 17: loss 17, samples of 10, table of –</p>')
  follow()
  expect(onScreen()).toBe('<p>step 30: loss 30, samples of 30, table of –</p>')
})

test('before its first measurement a metric is a dash', () => {
  labStore.setState({ ...run(() => 1), series: new Map() })
  scrubTo(5)
  expect(onScreen()).toBe('<p>step 5: loss –, samples of 0, table of –</p>')
})

test('a past run has the page’s panels too', () => {
  viewStore.setState({ viewed: run((step) => 100 + step) })
  scrubTo(3)
  expect(onScreen()).toBe('<p>step 3: loss 103, samples of 0, table of –</p>')
})

test('between two writes of words every panel says the step of the last one, whatever renders it', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  const redraw = () => uiStore.setState(({ frame }) => ({ frame: frame + 1 }))
  const stop = keepWritten(() => {})
  const ofRun = labStore.getState()
  labStore.setState({ ...ofRun, step: 29 })
  redraw()
  labStore.setState({ step: 30 })
  redraw()
  expect(onScreen()).toBe('<p>step 29: loss 29, samples of 30, table of –</p>')
  vi.advanceTimersByTime(2 * TEXT_MS)
  expect(onScreen()).toBe('<p>step 30: loss 30, samples of 30, table of –</p>')
  // Another run has nothing of what was written.
  labStore.setState({ ...run(() => 0), step: 2 })
  expect(onScreen()).toBe('<p>step 2: loss 0, samples of 30, table of –</p>')
  stop()
  vi.useRealTimers()
})
