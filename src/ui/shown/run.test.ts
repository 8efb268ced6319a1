import { beforeEach, expect, test } from 'vitest'
import { PRESETS } from '../../document/presets/presets.ts'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { forgetLayers } from '../open/opened_run.ts'
import { columnsOf, numbered } from '../plot/chart_lines.ts'
import { chartCsv } from '../plot/files/chart_file.ts'
import { overlayKey, overlayStore } from './overlays.ts'
import { hasPairs, lastDrawnStep, plannedSteps, stepEnd } from './run.ts'
import { uiStore } from './store.ts'
import { columnsOf as made } from './testing.ts'

const overlay = (id: string, steps: number, planned = steps) => ({
  id,
  label: id,
  color: 'blue',
  dash: [],
  end: () => ({ last: steps, planned }),
  series: () => made(Array.from({ length: steps + 1 }, (_, i) => i)),
})
const shown = (steps: number) => {
  const series = new Map<string, Series>()
  for (let step = 0; step <= steps; step++) appendMetrics(series, step, { loss: step })
  labStore.setState({ ...initialState(), series: steps > 0 ? series : new Map(), step: steps })
}

beforeEach(() => {
  shown(0)
  overlayStore.setState({ overlays: [] })
  uiStore.setState({ hiddenLines: new Set<string>() })
})

test('without a run the step axis holds the runs that are compared, and no more', () => {
  overlayStore.setState({ overlays: [overlay('a', 120), overlay('b', 105)] })
  expect(stepEnd(undefined)).toBe(120)
  uiStore.setState({ hiddenLines: new Set([overlayKey('a')]) })
  expect(stepEnd(undefined)).toBe(105)
  // One that continues has room to grow into.
  overlayStore.setState({ overlays: [overlay('c', 3, 300)] })
  expect(stepEnd(undefined)).toBe(20)
})

test('a longer run behind a shorter one is on the axis and in the file to its end', () => {
  shown(30)
  const planned = plannedSteps(labStore.getState())
  overlayStore.setState({ overlays: [overlay('a', planned + 7)] })
  expect(lastDrawnStep()).toBe(planned + 7)
  const end = stepEnd(undefined)
  expect(end).toBe(planned + 7)
  const lines = numbered([{ metric: 'loss', label: 'loss', color: 'red' }])
  const csv = chartCsv(columnsOf(lines, overlayStore.getState().overlays, 0), [0, end])
  expect(csv.trimEnd().split('\n').at(-1)).toBe(`${planned + 7},,${planned + 7}`)
})

test('a run alone has the axis that it always had', () => {
  shown(30)
  expect(stepEnd(undefined)).toBe(32)
  expect(stepEnd({ low: 3, high: 9 })).toBe(9)
})

test('lines that were hidden among the layers of one model come back with a model of another depth', () => {
  const depth = ({ experiment }: (typeof PRESETS)[number]) => experiment.model.num_hidden_layers
  const [first] = PRESETS
  const other = PRESETS.find((preset) => depth(preset) !== depth(first)) ?? first
  const before = { ...initialState(), experiment: first.experiment }
  const hiddenLines = new Set(['layer/entropy/1', 'loss'])
  uiStore.setState({ hiddenLines })
  forgetLayers({ ...before, step: 3 }, before)
  expect(uiStore.getState().hiddenLines).toBe(hiddenLines)
  forgetLayers({ ...before, experiment: other.experiment }, before)
  expect([...uiStore.getState().hiddenLines]).toEqual(['loss'])
})

test('pairs teach where a reward model or a policy learns from them', () => {
  const ids = ['rlhf-clicks', 'dpo-clicks', 'tiny-grpo']
  const teach = ids.map((id) => {
    const experiment = PRESETS.find((preset) => preset.id === id)?.experiment
    return hasPairs({ ...initialState(), ...(experiment && { experiment }) })
  })
  expect(teach).toEqual([true, true, false])
})
