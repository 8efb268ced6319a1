import { expect, test } from 'vitest'
import { CaseError, Fields } from './fields.ts'

const fields = (values: unknown) => new Fields(values, 'inputs')

test('reads numbers, flags and arrays', () => {
  const f = fields({
    a: 2,
    on: 1,
    x: [
      [1, 2, 3],
      [4, 5, 6],
    ],
    none: null,
  })
  expect(f.number('a')).toBe(2)
  expect(f.number('none', 7)).toBe(7)
  expect(f.optionalNumber('none')).toBeUndefined()
  expect(f.flag('on')).toBe(true)
  expect(f.matrix('x')).toEqual({ rows: 2, columns: 3, data: Float64Array.of(1, 2, 3, 4, 5, 6) })
  expect(f.tensor('x').shape).toEqual([2, 3])
  expect(f.unused()).toEqual([])
})

test('what was never read is named, but not what is null', () => {
  const f = fields({ a: 1, b: 2, none: null, inner: { c: 3 } })
  f.number('a')
  f.fields('inner')
  expect(f.unused()).toEqual(['inputs.b', 'inputs.inner.c'])
  f.ignore('b')
  expect(f.unused()).toEqual(['inputs.inner.c'])
})

test.for([
  [(f: Fields) => f.number('missing'), 'inputs.missing: expected a number, got nothing'],
  [(f: Fields) => f.number('text'), 'inputs.text: expected a number, got "x"'],
  [(f: Fields) => f.flag('two'), 'inputs.two: expected 0 or 1, got 2'],
  [(f: Fields) => f.choice('text', ['y', 'z']), 'inputs.text: expected one of y, z, got "x"'],
  [(f: Fields) => f.matrix('two'), 'inputs.two: expected an array [?,?] of numbers, got 2'],
  [(f: Fields) => f.matrix('ragged'), 'inputs.ragged: expected an array [?,?] of numbers'],
  [(f: Fields) => f.matrix('vector'), 'expected an array [?,?] of numbers, got "array [2]"'],
  [(f: Fields) => f.vector('vector', 3), 'expected an array [3] of numbers, got "array [2]"'],
  [(f: Fields) => f.tensor('mixed'), 'inputs.mixed: expected an array of numbers'],
  [(f: Fields) => f.fields('two'), 'inputs.two: expected a record, got 2'],
  [(f: Fields) => f.list('two'), 'inputs.two: expected a list of records, got 2'],
] as const)('refuses, case %#', ([read, message]) => {
  const f = fields({
    text: 'x',
    two: 2,
    vector: [1, 2],
    ragged: [[1, 2], [3]],
    mixed: [1, 'x'],
  })
  expect(() => read(f)).toThrow(CaseError)
  expect(() => read(f)).toThrow(message)
})

test('a case that is no record is refused', () => {
  expect(() => fields(undefined)).toThrow('inputs: expected a record, got nothing')
  expect(() => fields([1])).toThrow('inputs: expected a record, got [1]')
})
