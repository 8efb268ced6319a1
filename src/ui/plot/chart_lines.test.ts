import { beforeEach, expect, test } from 'vitest'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import { MAX_ROWS } from '../../host/columns/thinning.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { ticksOf } from '../scales/bounds.ts'
import { extentOf } from '../scales/extent.ts'
import { smoothed } from '../scales/smooth.ts'
import type { Overlay } from '../shown/overlays.ts'
import { viewStore } from '../shown/shown.ts'
import { uiStore } from '../shown/store.ts'
import { columnsOf as made, VERL_LOG } from '../shown/testing.ts'
import {
  behindText,
  boundsOf,
  columnsOf,
  leftOutWords,
  lineOff,
  lineText,
  numbered,
  overlayKeys,
  strokesOf,
  summaryOf,
  thinnedText,
} from './chart_lines.ts'
import { drawnColumns, staleFrom } from './lines/repaint.ts'

const [line] = numbered([{ metric: 'loss', label: 'loss', color: 'red', width: 2, dash: [4, 2] }])
const other: Overlay = {
  id: 'b',
  label: 'run b',
  color: 'blue',
  dash: [1, 1],
  end: () => ({ last: 1, planned: 1 }),
  series: (metric) => (metric === 'loss' ? made([7, 8]) : undefined),
  band: () => ({ low: made([-2, 6]), high: made([9, 9]) }),
}

beforeEach(() => {
  const series = new Map<string, Series>()
  for (const [step, loss] of [1, 0.1, 0, 0.5].entries()) appendMetrics(series, step, { loss })
  labStore.setState({ ...initialState(), series, step: 3 })
})

test('other runs and their bands lie behind the own line, faint and in their own dash', () => {
  const strokes = strokesOf([line], [other], 0, false)
  expect(
    strokes.map((s) =>
      s.kind === 'band' ? [s.kind, s.color] : [s.style.color, s.style.opacity ?? 1, s.style.dash],
    ),
  ).toEqual([
    ['band', 'blue'],
    ['blue', 0.55, [1, 1]],
    ['red', 1, [4, 2]],
  ])
})

test('a line with gaps does not cross steps that did not measure it', () => {
  const series = labStore.getState().series as Map<string, Series>
  for (const step of [5, 10]) appendMetrics(series, step, { testing: step })
  const drawn = (hasGaps: boolean) => {
    const [one] = numbered([{ metric: 'testing', label: 'validation', color: 'red', hasGaps }])
    const [stroke] = strokesOf([one], [], 0, false)
    return stroke.kind === 'line'
      ? Array.from(stroke.columns.values).slice(0, stroke.columns.length)
      : []
  }
  expect(drawn(false)).toEqual([5, 10])
  expect(drawn(true)).toEqual([5, Number.NaN, 10])
})

test('of several series another run’s each have their own dash in the colour of that run', () => {
  const metrics = Array.from({ length: 8 }, (_, i) => `m${i}`)
  const lines = numbered(metrics.map((metric) => ({ metric, label: metric, color: 'red' })))
  const whole: Overlay = { ...other, band: () => undefined, series: () => made([7, 8]) }
  const looks = strokesOf(lines, [whole], 0, false).flatMap((s) =>
    s.kind === 'line' ? [`${s.style.color} ${s.style.dash}`] : [],
  )
  expect(new Set(looks).size).toBe(8)
  expect(looks.every((look) => look.startsWith('blue'))).toBe(true)
  expect(overlayKeys(lines, [whole]).map(({ label }) => label)).toContain('run b: m3')
  // Metrics of one label follow one another and are one series, told apart by the run's own dash.
  const one = numbered(metrics.map((metric) => ({ metric, label: 'norm', color: 'red' })))
  expect(overlayKeys(one, [whole])).toEqual([
    expect.objectContaining({ label: 'run b', dash: [1, 1] }),
  ])
})

test('smoothing puts the measured line behind, at a quarter of its strength', () => {
  const looks = strokesOf([line], [], 0.9, false).map((s) =>
    s.kind === 'line' ? (s.style.opacity ?? 1) : undefined,
  )
  expect(looks).toEqual([0.25, 1])
})

test('a line that jumps is smoothed without being asked, and as much as is asked', () => {
  const noisy = { ...line, smooth: 0.5 }
  const looks = () => strokesOf([noisy], [], 0, false).length
  // Of a few every one is read.
  expect(looks()).toBe(1)
  const series = labStore.getState().series as Map<string, Series>
  for (let step = 4; step < 10; step++) appendMetrics(series, step, { loss: step % 2 })
  const drawn = (asked: number) =>
    strokesOf([noisy], [], asked, false).map((s) => (s.kind === 'line' ? s.columns : undefined))
  const [raw] = strokesOf([line], [], 0, false)
  const measured = raw?.kind === 'line' ? raw.columns : undefined
  if (!measured) throw new Error('nothing is drawn')
  expect(drawn(0)).toEqual([measured, smoothed(measured, 0.5)])
  expect(drawn(0.9)).toEqual([measured, smoothed(measured, 0.9)])
  expect(columnsOf([noisy], [], 0).map(({ name }) => name)).toEqual(['loss', 'loss (fit 0.5)'])
})

test('the value axis holds other runs and their bands', () => {
  expect(boundsOf([line], [], [0, 3])).toMatchObject({ low: 0, high: 1 })
  const bounds = boundsOf([line], [other], [0, 3])
  expect(bounds).toMatchObject({ low: -2, high: 9 })
  expect(ticksOf(bounds, undefined, false, 5)).toEqual([-2.5, 0, 2.5, 5, 7.5, 10])
})

test('the value axis holds a smoothed line where it leaves what was measured', () => {
  const series = labStore.getState().series as Map<string, Series>
  for (let step = 4; step < 94; step++)
    appendMetrics(series, step, { risen: Math.min(step, 80) / 10 })
  const risen = { metric: 'risen', label: 'risen', color: 'red' }
  expect(boundsOf([risen], [], [0, 94]).high).toBe(8)
  expect(boundsOf([risen], [], [0, 94], 0).high).toBe(8)
  expect(boundsOf([risen], [], [0, 94], 0.95).high).toBeGreaterThan(8.2)
})

test('a line that may leave is off the axis only where the others would lie flat below it', () => {
  const series = labStore.getState().series as Map<string, Series>
  for (const step of [4, 5]) appendMetrics(series, step, { words: 6.6, low: 0.5, high: 2.4 })
  const [words, low, high, none] = ['words', 'low', 'high', 'none'].map((metric) => ({
    metric,
    label: metric,
    color: 'red',
    mayLeave: metric === 'words',
  }))
  const x = [0, 5] as const
  expect(lineOff([words, low], [], x)).toBe('words')
  expect(lineOff([words, low, high], [], x)).toBe('')
  // Alone, or beside lines without a value yet, it is drawn; so is one that may not leave.
  expect(lineOff([words], [], x)).toBe('')
  expect(lineOff([words, none], [], x)).toBe('')
  expect(lineOff([{ ...words, mayLeave: false }, low], [], x)).toBe('')
})

test('a logarithmic axis begins with the smallest value above 0 and counts the others', () => {
  const bounds = boundsOf([line], [], [0, 3])
  expect(ticksOf(bounds, undefined, true, 5)).toEqual([0.1, 0.2, 0.5, 1])
  expect(bounds.notPositive).toBe(1)
  expect(leftOutWords(1, false)).toMatch(/^1 value at or below 0 cannot .* is a gap\.$/)
  expect(leftOutWords(0, true)).toContain('Step 0')
  expect(leftOutWords(0, false)).toBe('')
})

test('a zoom fits the value axis to what it shows', () => {
  expect(boundsOf([line], [], [1, 3])).toMatchObject({ low: 0, high: 0.5 })
})

test('files name measured, smoothed and other runs’ lines apart', () => {
  expect(columnsOf([line], [other], 0.9).map(({ name }) => name)).toEqual([
    'loss',
    'loss (fit 0.9)',
    'run b: loss',
  ])
})

test('the table of numbers has the names of the chart', () => {
  const named = columnsOf([{ ...line, label: 'how wrong' }], [other], 0.9)
  expect(named.map(({ label }) => label)).toEqual([
    'how wrong',
    'how wrong, fit',
    'run b: how wrong',
  ])
})

test('the summary says the newest value and its range, and nothing of what was not measured', () => {
  const unmeasured = { ...line, metric: 'reward', label: 'reward' }
  expect(summaryOf([line, unmeasured], String)).toBe('Newest values. loss: 0.5, between 0 and 1.')
  expect(summaryOf([unmeasured], String)).toBe('Nothing measured yet.')
  // A log is over: it says what it has.
  viewStore.setState({ log: VERL_LOG })
  expect(summaryOf([unmeasured], String)).toBe('The log has none of this. It has loss.')
  viewStore.setState({ log: undefined })
})

test('a column that was thinned is redrawn, and the chart says so', () => {
  const series = labStore.getState().series as Map<string, Series>
  const push = (from: number, to: number) => {
    for (let step = from; step < to; step++) appendMetrics(series, step, { loss: step % 97 })
    return series.get('loss') ?? made([])
  }
  const whole = push(4, MAX_ROWS)
  expect(thinnedText([line], [other], 0)).toBe('')
  const before = [whole, smoothed(whole, 0.9)].map((columns) => drawnColumns(columns))
  expect(extentOf(whole)).toEqual([0, 96])
  const thinned = push(MAX_ROWS, MAX_ROWS + 1)
  const now = [thinned, smoothed(thinned, 0.9)].map((columns) => drawnColumns(columns))
  const view = { x: [0, 20_000], y: [0, 100], width: 600, height: 100 } as const
  for (const [i, drawn] of now.entries())
    expect(staleFrom([before[i]], [drawn], view)).toBe(Number.NEGATIVE_INFINITY)
  expect(now[1].length).toBe(thinned.length)
  expect(extentOf(thinned)).toEqual([0, 96])
  expect(thinnedText([line], [], 0)).toMatch(/^Up to step 15,359 not every step is kept any more/)
  expect(thinnedText([line], [], 0.9)).toMatch(/ A smoothed line is fitted to what is kept\.$/)
})

test('the description names the band behind the lines, and where the value lies', () => {
  const format = (value: number | undefined) => `${value}`
  expect(summaryOf([line], format)).toBe('Newest values. loss: 0.5, between 0 and 1.')
  const ideal = { high: 0.2, why: '', words: 'Ideal: below 0.2' }
  expect(summaryOf([line], format, ideal)).toBe(
    'Newest values. loss: 0.5, between 0 and 1. Ideal: below 0.2; the value is above it.',
  )
})

test('a value of an earlier step names it, in the legend and in words', () => {
  const series = labStore.getState().series as Map<string, Series>
  for (const step of [0, 20]) appendMetrics(series, step, { testing: step / 100 })
  const [tested] = numbered([{ metric: 'testing', label: 'greedy', color: 'red' }])
  const at = (step: number | undefined) => {
    uiStore.setState({ atStep: step })
    const tests = [series.get('testing')]
    return [lineText(tests, String), behindText(tests, String, 0)]
  }
  expect(at(20)).toEqual(['0.2', ''])
  expect(at(undefined)).toEqual(['0.2', ''])
  expect(at(22)).toEqual(['0.2', 'at step 20'])
  expect(summaryOf([tested], String)).toContain('greedy: 0.2 at step 20, between')
  uiStore.setState({ atStep: undefined })
})

test('beside a smoothed line stands what was measured, as everywhere, and then where the line lies', () => {
  const rewards = [made([0, 1, 0, 1], 1)]
  const text = (value: number | undefined) => (value ?? Number.NaN).toFixed(2)
  const read = (atStep: number | undefined) => {
    uiStore.setState({ atStep })
    return [lineText(rewards, text), behindText(rewards, text, 0.5)]
  }
  const drawn = smoothed(rewards[0], 0.5).values
  expect(read(undefined)).toEqual(['1.00', `fit ${drawn[3].toFixed(2)}`])
  expect(read(3)).toEqual(['0.00', `fit ${drawn[2].toFixed(2)}`])
  expect(read(9)).toEqual(['1.00', 'at step 4'])
  uiStore.setState({ atStep: undefined })
})

test('in a zoom a line is read out at its end, or at a shown step within it', () => {
  const rewards = [made([0, 1, 0, 1], 1)]
  const read = (atStep: number | undefined, weight = 0) => {
    uiStore.setState({ atStep, zoom: { low: 2, high: 3 } })
    return [lineText(rewards, String), behindText(rewards, String, weight)]
  }
  expect(read(undefined)).toEqual(['0', ''])
  expect(read(undefined, 0.5)[1]).toMatch(/^fit 0\.\d+$/)
  expect(read(2)).toEqual(['1', ''])
  expect(read(2, 0.5)).toEqual(['1', expect.stringMatching(/^fit 0\.\d+$/)])
  expect(read(1)).toEqual(['0', ''])
  uiStore.setState({ atStep: undefined, zoom: { low: 2, high: undefined } })
  expect(lineText(rewards, String)).toBe('1')
  uiStore.setState({ zoom: undefined })
})

test('an axis that does not depend on its values gives way where they leave it', () => {
  const of = (low: number, high: number) =>
    ticksOf({ low, high, lowPositive: 0.1, notPositive: 0 }, [0, 1], false, 3)
  expect(of(0.2, 0.7)).toEqual([0, 0.5, 1])
  expect(of(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)).toEqual([0, 0.5, 1])
  expect(of(0.2, 2.4)).toEqual([0, 1, 2, 3])
  expect(of(-6, 0)).toEqual([-7.5, -5, -2.5, 0])
})
