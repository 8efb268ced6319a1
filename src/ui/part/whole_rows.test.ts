import { expect, test } from 'vitest'
import { unseen, wholeCut, wholeEnd } from './whole_rows.ts'

test('a list is cut where the last whole row ends, and says how many lie below', () => {
  const ends = [37, 74, 111, 148]
  expect(wholeCut(ends, 120)).toBe(111)
  expect(wholeCut(ends, 111)).toBe(111)
  const rows = ends.map((end) => ({ start: end - 37, end }))
  expect(unseen(rows, 111)).toEqual({ below: 1, isCut: false })
  expect(unseen(rows, 147.5)).toEqual({ below: 0, isCut: false })
})

test('a row of which something is in sight is not one more', () => {
  const rows = [37, 200, 237, 274].map((end, i, ends) => ({ start: ends[i - 1] ?? 0, end }))
  expect(unseen(rows, 120)).toEqual({ below: 2, isCut: false })
  expect(unseen(rows, 250)).toEqual({ below: 0, isCut: true })
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
