import { expect, test } from 'vitest'
import { editLabels, INSET, markerLabels, plotSize } from './geometry.ts'

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

test('an edit’s words stand where there is room: after its line, before it, cut, or as a pencil', () => {
  const x = [0, 100] as const
  const words = 'entropy_coeff 0.01'
  const labels = (...steps: number[]) =>
    editLabels(
      steps.map((step) => ({ step, words })),
      x,
      400,
    )
  expect(labels(10)).toEqual([{ text: words, is_before: false }])
  expect(labels(95)).toEqual([{ text: words, is_before: true }])
  expect(labels(10, 30)[0]).toEqual({ text: 'entropy_coe…', is_before: false })
  expect(labels(1, 4)[0]).toEqual({ text: '✎', is_before: false })
})
