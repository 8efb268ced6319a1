import { expect, test } from 'vitest'
import { INSET, markerLabels, plotSize } from './geometry.ts'

const span = (step: number, number: number, name: string) => ({
  step,
  end: step + 10,
  number,
  name,
  is_sft: false,
})

test('a plot area never has a negative size', () => {
  expect(plotSize({ width: 10, height: 10 })).toEqual({ width: 0, height: 0 })
  expect(plotSize({ width: 154, height: 140 }).width).toBe(154 - INSET.left - INSET.right)
})

test('a phase marker carries its name only where it fits before the next one', () => {
  const spans = [span(0, 1, 'warm start'), span(400, 2, 'layer 5'), span(412, 3, 'whole model')]
  expect(markerLabels(spans, [0, 520], 500, true)).toEqual(['① warm start', '②', '③ whole model'])
  expect(markerLabels(spans, [0, 520], 500, false)).toEqual(['①', '②', '③'])
})
