import { expect, test } from 'vitest'
import { columnsOf } from '../../shown/testing.ts'
import { bandPath, linePath, strokeAttributes } from './strokes.ts'

const view = { x: [0, 4], y: [0, 1], width: 40, height: 10 } as const
const { NaN: gap } = Number

test('a line becomes one path, and a gap a new subpath of it', () => {
  expect(linePath(columnsOf([0, 1, gap, 0.5, 0.5]), view)).toBe('M0 10L10 0M30 5L40 5')
})

test('a value alone between gaps stays visible', () => {
  expect(linePath(columnsOf([gap, 0.5, gap]), view)).toBe('M10 5h0')
})

test('nothing measured is an empty path', () => {
  expect(linePath(columnsOf([gap, gap]), view)).toBe('')
  expect(bandPath(columnsOf([]), columnsOf([]), view)).toBe('')
})

test('a band goes along its high side and back along its low one', () => {
  expect(bandPath(columnsOf([0, 0.2]), columnsOf([1, 0.8]), view)).toBe('M0 0L10 2L10 8L0 10Z')
})

test('a path carries the dash, width and faintness of its line', () => {
  const style = { color: 'red', width: 2, dash: [3, 1], dots: false, opacity: 0.25 }
  expect(strokeAttributes({ kind: 'line', columns: columnsOf([0, 1]), style }, view)).toMatchObject(
    {
      d: 'M0 10L10 0',
      stroke: 'red',
      'stroke-width': '2',
      'stroke-dasharray': '3 1',
      'stroke-opacity': '0.25',
    },
  )
})
