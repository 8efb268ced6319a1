// Tests that a legend says whose the lines behind the shown run are, and of what.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import { labStore } from '../../page/state/store.ts'
import { formatNumber } from '../kit/format.ts'
import { overlayStore } from '../shown/overlays.ts'
import { uiStore } from '../shown/store.ts'
import { columnsOf } from '../shown/testing.ts'
import { type Line, numbered } from './chart_lines.ts'
import { Legend } from './Legend.tsx'

const said = (lines: readonly Line[]) =>
  renderToStaticMarkup(
    <Legend lines={[]} visible={numbered(lines)} formatValue={formatNumber} />,
  ).replaceAll(/<[^>]*>/g, '|')
const line = (metric: string): Line => ({ metric, label: metric, color: 'black' })

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [overlayStore, uiStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  overlayStore.setState({
    overlays: [
      {
        id: 'a',
        label: 'the first run',
        color: 'blue',
        dash: [],
        end: () => ({ last: 1, planned: 1 }),
        series: (metric) => (metric === 'scoring' ? undefined : columnsOf([1, 2])),
      },
    ],
  })
})
afterEach(() => {
  overlayStore.setState({ overlays: [] })
  vi.restoreAllMocks()
})

test('a lone line is told apart from the one behind it', () => {
  expect(said([line('loss')])).toMatch(/this run.*behind:.*the first run/)
})

test('of several series each value of the other run has a name', () => {
  const words = said([line('layer 1'), line('layer 2')])
  expect(words).toMatch(/behind:.*the first run.*\|layer 1\|.*\|layer 2\|/)
  expect(words).not.toContain('this run')
})

test('a chart on which the other run has no line does not name it', () => {
  expect(said([line('scoring')])).not.toContain('the first run')
})

test('a series that the other run has no value of is no entry', () => {
  const markup = renderToStaticMarkup(
    <Legend
      lines={[]}
      visible={numbered([line('sampling'), line('scoring')])}
      formatValue={formatNumber}
    />,
  )
  expect(markup).toMatch(/title="sampling, the first run"(?! hidden)/)
  expect(markup).toContain('title="scoring, the first run" hidden')
})

test('a line that is off the axis has an arrow before its value', () => {
  const lines = numbered([line('layer 1'), line('embedding')])
  const markup = (isOff: boolean) =>
    renderToStaticMarkup(
      <Legend
        lines={[lines[0], { ...lines[1], isOff }]}
        visible={lines}
        formatValue={formatNumber}
      />,
    )
  expect(markup(true).split('↑')).toHaveLength(2)
  expect(markup(false)).not.toContain('↑')
})

test('the mark of a line is what is drawn of it: a line, or dots where its steps lie apart', () => {
  const series = new Map<string, Series>()
  for (const step of [10, 20]) appendMetrics(series, step, { validation: step })
  for (const step of [1, 2]) appendMetrics(series, step, { sampling: step })
  labStore.setState({ series })
  const marks = (metric: string, more: Partial<Line> = {}) => {
    const lines = numbered([{ ...line(metric), ...more }, line('other')])
    const html = renderToStaticMarkup(
      <Legend lines={lines} visible={[]} formatValue={formatNumber} />,
    )
    const [svg] = html.match(/<svg.*?<\/svg>/) ?? ['']
    return (svg.match(/<(line|circle)/g) ?? []).join()
  }
  expect(marks('validation', { hasGaps: true })).toBe('<circle,<circle')
  expect(marks('sampling', { hasGaps: true })).toBe('<line')
  // Without gaps a line joins them, with its dots where it has some.
  expect(marks('validation')).toBe('<line')
  expect(marks('validation', { dots: true })).toBe('<line,<circle')
})
