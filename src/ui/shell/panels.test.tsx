// A panel written as CONTRIBUTING.md says: one component of its props, one line in a list.
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeEach, expect, test } from 'vitest'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import type { RolloutSample } from '../../host/protocol/results.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { emptyKept } from '../../record/run/kept_run.ts'
import { formatNumber } from '../kit/format.ts'
import { follow, scrubTo } from '../open/scrub.ts'
import { type PanelProps, Panels } from '../part/Panels.tsx'
import { viewStore } from '../shown/shown.ts'
import { shownStepStore } from '../shown/shown_step.ts'
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

test('panels are told when the page is scrubbed, redraws or shows another run, and of nothing else', () => {
  const told: number[] = []
  const stop = shownStepStore.subscribe(({ step }) => told.push(step))
  scrubTo(12)
  uiStore.setState({ hoverStep: 4 })
  labStore.setState({ message: 'a step was taken, and the page has not redrawn yet' })
  expect(told).toEqual([12])
  follow()
  uiStore.setState(({ frame }) => ({ frame: frame + 1 }))
  labStore.setState({ ...run(() => 0), step: 2 })
  expect(told).toEqual([12, 30, 30, 2])
  stop()
})
