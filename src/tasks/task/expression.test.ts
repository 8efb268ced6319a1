import { expect, test } from 'vitest'
import { workOut } from './expression.ts'

test.for([
  ['3*4+5', 17, [3, 4, 5]],
  ['3+4*5', 23, [3, 4, 5]],
  ['(3+4)*5', 35, [3, 4, 5]],
  ['9-3-2', 4, [9, 3, 2]],
  ['8/4/2', 1, [8, 4, 2]],
  ['((12))', 12, [12]],
] as const)('%s is %i', ([text, value, numbers]) => {
  expect(workOut(text)).toEqual({ value, numbers })
})

test.for(['', '3+', '+3', '3 4', '(3', '3)', '03+1', '3**4', '3a', '()', '3(4)'])(
  '%s is no expression',
  (text) => {
    expect(workOut(text)).toBeUndefined()
  },
)

test('a division by 0 comes to nothing finite', () => {
  expect(workOut('3/0')?.value).toBe(Number.POSITIVE_INFINITY)
  expect(workOut('0/0')).toBeUndefined()
})
