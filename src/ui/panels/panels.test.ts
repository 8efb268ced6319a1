import { expect, test } from 'vitest'
import { experimentFields } from '../../lab/experiment.ts'
import { PRESETS } from '../../lab/presets.ts'
import { skippedUpdates } from '../metrics.ts'
import { groupByPrompt } from './grouping.ts'
import { SLIDER_TICKS, sliderPosition, sliderValue } from './slider.ts'

const numeric = experimentFields(PRESETS[0].experiment).filter(
  ({ kind, min, max }) =>
    (kind === 'integer' || kind === 'number') && min !== undefined && max !== undefined,
)

test('every slider reaches both ends of its range and nothing beyond', () => {
  expect(numeric.length).toBeGreaterThan(20)
  for (const field of numeric) {
    expect(sliderValue(field, 0), field.path).toBe(field.min)
    expect(sliderValue(field, SLIDER_TICKS), field.path).toBeLessThanOrEqual(field.max ?? 0)
    expect(sliderPosition(field, field.max ?? 0), field.path).toBeCloseTo(SLIDER_TICKS, 6)
  }
})

test('the middle of a logarithmic slider is the geometric mean', () => {
  const lr = { kind: 'number', scale: 'log', min: 1e-6, max: 1e-2 } as const
  expect(sliderValue(lr, SLIDER_TICKS / 2)).toBe(1e-4)
  expect(sliderPosition(lr, 1e-4)).toBeCloseTo(SLIDER_TICKS / 2, 9)
})

test('a linear slider moves by the field’s own step', () => {
  const width = { kind: 'integer', min: 8, max: 1024, step: 8 } as const
  for (let at = 0; at <= SLIDER_TICKS; at += 7) expect(sliderValue(width, at) % 8).toBe(0)
})

test('samples are grouped by prompt in the order they came', () => {
  const [a, b, c] = ['2+2=', '1+1=', '2+2='].map((prompt, id) => ({ prompt, id }))
  expect(groupByPrompt([a, b, c])).toEqual([
    ['2+2=', [a, c]],
    ['1+1=', [b]],
  ])
})

test('skipped updates are added up, and the last step that had one is named', () => {
  const columns = { steps: [1, 2, 3, 4], values: [0, 2, 1, 0], length: 4 }
  expect(skippedUpdates(columns)).toEqual({ count: 3, last_step: 3 })
  expect(skippedUpdates({ ...columns, length: 1 })).toBeUndefined()
  expect(skippedUpdates(undefined)).toBeUndefined()
})
