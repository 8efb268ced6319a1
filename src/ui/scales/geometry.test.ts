import { expect, test } from 'vitest'
import {
  EDIT_ROW,
  editLabels,
  editWordsNear,
  INSET,
  leftOf,
  markerLabels,
  plotSize,
  rightOf,
  topOf,
} from './geometry.ts'
import { phaseMark } from './phase_mark.ts'

const span = (step: number, number: number, name: string) => ({
  step,
  end: step + 10,
  number,
  name,
  isSft: false,
})

test('a plot area never has a negative size', () => {
  expect(plotSize({ width: 10, height: 10 })).toEqual({ width: 0, height: 0 })
  expect(plotSize({ width: 154, height: 140 }).width).toBe(154 - INSET.left - INSET.right)
})

test('names of lines take a fifth of a chart at most, and nothing of a narrow one', () => {
  expect([rightOf(500, true), rightOf(540, true), rightOf(1000, true)]).toEqual([100, 108, 112])
  expect([rightOf(479, true), rightOf(1000, false)]).toEqual([INSET.right, INSET.right])
})

test('what was changed by hand has a row of its own above the plot, which grows no larger by it', () => {
  expect(topOf([])).toBe(INSET.top)
  const top = topOf([{ step: 3, words: 'temperature 1.2' }])
  expect(top).toBe(INSET.top + EDIT_ROW)
  const size = { width: 154, height: 140 }
  const [bare, marked] = [plotSize(size), plotSize(size, INSET.right, INSET.left, top)]
  expect(bare.height - marked.height).toBe(EDIT_ROW)
})

test('the widest value has room left of its plot, sign included', () => {
  const widthOf = (text: string) => 7 * text.length
  expect(leftOf(['0', '0.5'], widthOf)).toBe(INSET.left)
  const values = ['0', '−0.025', '−0.05']
  const left = leftOf(values, widthOf)
  expect(left).toBeGreaterThan(INSET.left)
  expect(left).toBeGreaterThanOrEqual(42 + 8)
  expect(plotSize({ width: 154, height: 140 }, INSET.right, left).width).toBe(154 - left - 12)
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
      (text) => 5.9 * text.length,
    )
  expect(labels(10)).toEqual([{ text: words, isBefore: false }])
  expect(labels(95)).toEqual([{ text: words, isBefore: true }])
  expect(labels(10, 30)[0]).toEqual({ text: 'entropy_coe…', isBefore: false })
  expect(labels(1, 4)[0]).toEqual({ text: '✎', isBefore: false })
})

test('wide letters of an edit stay inside the plot, right of the unit', () => {
  const widthOf = (text: string) => 8.5 * text.length
  const marks = [30, 32].map((step) => ({ step, words: 'added REINFORCE++, 40 steps' }))
  const [{ text, isBefore }] = editLabels(marks, [0, 100], 400, widthOf)
  expect(isBefore).toBe(true)
  expect(text).toMatch(/^added REIN.*…$/)
  expect(widthOf(text)).toBeLessThanOrEqual(0.3 * 400 - 4)
})

test('all words of the edits under the pointer are to be had, and none beside them', () => {
  const marks = [
    { step: 50, words: 'lr 0.001' },
    { step: 51, words: 'phase repeated' },
    { step: 90, words: 'clip_ratio_low 0.1' },
  ]
  const near = (at: number) =>
    editWordsNear(marks, at, { x: [0, 100], y: [0, 1], width: 400, height: 100 })
  expect(near(203)).toBe('after step 50: lr 0.001\nafter step 51: phase repeated')
  expect(near(366)).toBe('after step 90: clip_ratio_low 0.1')
  expect(near(300)).toBe('')
})

test('a phase has one sign as far as common fonts have it', () => {
  expect([1, 10, 11, 16].map(phaseMark)).toEqual(['①', '⑩', '(11)', '(16)'])
})
