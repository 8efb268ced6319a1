import { expect, test } from 'vitest'
import { rowsBelow, wholeCut, wholeEnd } from './whole_rows.ts'

test('a list is cut where the last whole row ends, and says how many lie below', () => {
  const ends = [37, 74, 111, 148]
  expect(wholeCut(ends, 120)).toBe(111)
  expect(wholeCut(ends, 111)).toBe(111)
  expect(rowsBelow(ends, 111)).toBe(1)
  expect(rowsBelow(ends, 147.5)).toBe(0)
})

test('where one row fills the list it stays as high as it is', () => {
  expect(wholeCut([20, 900], 300)).toBeUndefined()
  expect(wholeCut([], 300)).toBeUndefined()
})

test('a list grows by what is wanted below its cut, and no further', () => {
  const ends = [37, 74, 111, 148]
  expect(wholeEnd(ends, 74.5)).toBe(74)
  expect(wholeEnd(ends, 90)).toBe(111)
  expect(wholeEnd(ends, 160)).toBe(160)
})
