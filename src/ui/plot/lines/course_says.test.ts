import { beforeEach, expect, test } from 'vitest'
import { appendRow, type Series } from '../../../host/columns/series.ts'
import { labStore } from '../../../page/state/store.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'
import { isClearEntropy } from '../../kit/mean.ts'
import { uiStore } from '../../shown/store.ts'
import { courseOf, layersSay, mostChanged, scoreSays } from './course_says.ts'

const series = new Map<string, Series>()

beforeEach(() => {
  series.clear()
  const put = (metric: string, values: readonly number[]) =>
    values.forEach((value, i) => {
      appendRow(series, metric, 10 * i, value)
    })
  put('held', [0.77, 0.8, 0.92])
  put('alone', [0.5])
  put('deep', [3, 2, 1.5])
  put('shallow', [3, 2.9, 3.2])
  labStore.setState({ series })
  uiStore.setState({ atStep: undefined })
})

test('a course begins and ends at finite values, up to the shown step', () => {
  const gaps = { steps: [0, 1, 2, 3], values: [Number.NaN, 1, 2, Number.NaN], length: 4 }
  expect(courseOf(gaps, undefined)).toEqual({ from: 1, first: 1, to: 2, last: 2, lost: 3 })
  expect(courseOf(gaps, 2)).toEqual({ from: 1, first: 1, to: 2, last: 2 })
  expect(courseOf(gaps, 1)).toBeUndefined()
  expect(courseOf(undefined, 1)).toBeUndefined()
})

test('the sentence is of the first line that was measured twice', () => {
  const held = { metric: 'held', label: 'held-out accuracy' }
  const lines = [{ metric: 'none', label: '' }, { metric: 'alone', label: '' }, held]
  expect(scoreSays(lines, formatShare)).toBe(
    'From step 0 to 20 held-out accuracy rose from 77.0\u00a0% to 92.0\u00a0%.',
  )
  uiStore.setState({ atStep: 15 })
  expect(scoreSays(lines, formatShare)).toMatch(/^From step 0 to 10 .* to 80\.0\u00a0%\.$/)
  expect(scoreSays(lines.slice(0, 2), formatShare)).toBe('')
})

test('what chance explains is no rise', () => {
  const held = { metric: 'held', label: 'held-out accuracy' }
  expect(scoreSays([{ ...held, answers: 128 }], formatShare)).toContain('rose from')
  expect(scoreSays([{ ...held, answers: 10 }], formatShare)).toBe(
    'From step 0 to 20 held-out accuracy did not change clearly: 77.0\u00a0%, then 92.0\u00a0%.',
  )
})

test('the sentence names the layer that changed most', () => {
  const layers = ['shallow', 'deep', 'alone'].map((metric) => ({ metric, label: metric }))
  expect(layersSay(layers)).toBe(
    'From step 0 to 20 deep changed most: it fell from 3.000 to 1.500 nats.',
  )
  expect(layersSay([])).toBe('')
})

test('beside a line that did not change clearly stands one that did', () => {
  const held = { metric: 'held', label: 'held-out accuracy', answers: 10 }
  expect(scoreSays([held, { metric: 'deep', label: 'the score' }], formatShare)).toMatch(
    /then 92\.0\u00a0%\. Meanwhile the score fell from 300\.0\u00a0% to 150\.0\u00a0%\.$/,
  )
  const still = { metric: 'held', label: 'another', answers: 10 }
  expect(scoreSays([held, still], formatShare)).not.toContain('Meanwhile')
})

test('a layer that changed as much as the first is named with it', () => {
  const course = { from: 1, to: 45, first: 1.93, last: 0.81 }
  const layers = [
    { ...course, label: 'layer 2' },
    { ...course, label: 'the final policy', first: 1.42, last: 0.32 },
    { ...course, label: 'layer 1', first: 2.9, last: 2.4 },
  ]
  expect(mostChanged(layers)).toBe(
    'From step 1 to 45 layer 2 and the final policy changed most: from 1.930 to 0.810 and from 1.420 to 0.320 nats.',
  )
  expect(mostChanged([])).toBe('')
})

test('an entropy that hardly moved is called changed by no sentence', () => {
  for (const [metric, value] of [
    ['still', 0.365],
    ['flat', 3.25],
  ] as const)
    for (const step of [0, 10]) appendRow(series, metric, step, value - step * 0.0042)
  const layers = ['still', 'flat'].map((metric) => ({ metric, label: metric }))
  expect(layersSay(layers)).toBe(
    'From step 0 to 10 no layer’s policy changed clearly; still changed most: 0.365 nats, then 0.323.',
  )
  expect(
    scoreSays([{ metric: 'still', label: 'it', isEntropy: true }], formatNumber, ' nats'),
  ).toBe('From step 0 to 10 it did not change clearly: 0.365 nats, then 0.323 nats.')
  // The picture's caption has the same threshold.
  expect([isClearEntropy(-0.042), isClearEntropy(0.05)]).toEqual([false, true])
})

test('samples of many steps are told by means of some at both ends, as at the end of a run', () => {
  const rewards = [0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1]
  for (const [i, value] of rewards.entries()) appendRow(series, 'samples', i + 1, value)
  const samples = { metric: 'samples', label: 'the mean score of samples', isSampled: true }
  expect(scoreSays([{ ...samples, answers: 20 }], formatShare)).toBe(
    'From step 1 to 12 the mean score of samples rose from 40.0\u00a0% to 80.0\u00a0%, each a mean over 5 steps.',
  )
  expect(scoreSays([{ ...samples, answers: 1 }], formatShare)).toBe(
    'From step 1 to 12 the mean score of samples did not change clearly: 40.0\u00a0%, then 80.0\u00a0%, each a mean over 5 steps.',
  )
  uiStore.setState({ atStep: 9 })
  expect(scoreSays([{ ...samples, answers: 1 }], formatShare)).toBe(
    'From step 1 to 9 the mean score of samples rose from 0.0\u00a0% to 100.0\u00a0%.',
  )
})

test('a line that rose and fell is told by its peak, and before one that only rose', () => {
  const crash = [...Array(6).fill(0.2), ...Array(6).fill(0.8), ...Array(6).fill(0.2)]
  for (const [i, value] of crash.entries()) appendRow(series, 'crash', i + 1, value)
  const score = { metric: 'crash', label: 'the mean score of samples', isSampled: true }
  expect(scoreSays([{ ...score, answers: 40 }], formatShare)).toBe(
    'From step 1 to 18 the mean score of samples rose from 20.0\u00a0% to 80.0\u00a0%, then fell to 20.0\u00a0%, each a mean over 5 steps.',
  )
  const still = { metric: 'held', label: 'held-out accuracy', answers: 10 }
  const rose = { metric: 'held', label: 'another', answers: 1000 }
  expect(scoreSays([still, rose, { ...score, answers: 40 }], formatShare)).toMatch(
    / Meanwhile the mean score of samples rose from .*, then fell to /,
  )
  expect(scoreSays([{ ...score, answers: 1 }], formatShare)).toContain('stayed at 20.0')
})

test('a sentence says the last finite value, and since when there is none', () => {
  const values = [...Array(6).fill(2e119), ...Array(6).fill(1.5e308), NaN, Infinity]
  for (const [i, value] of values.entries()) appendRow(series, 'burst', i + 1, value)
  const burst = { metric: 'burst', label: 'the reward', isSampled: true }
  expect(scoreSays([burst], formatNumber)).toBe(
    'From step 1 to 12 the reward rose from 2.0e119 to 1.5e308, each a mean over 5 steps; since step 13 it is not finite.',
  )
  expect(layersSay([burst])).toMatch(/ Since step 13 not all of them are finite\.$/)
})
