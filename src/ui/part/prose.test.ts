// Tests which texts are read and which are looked at sign by sign.
import { expect, test } from 'vitest'
import { proseClass } from './prose.ts'

test('a story is read; a sum, a sorted number and a short sentence are looked at', () => {
  expect(proseClass('But the hat was gone. Jack went home alone.')).toBe('is-prose')
  for (const text of ['', '302=', '0 2 3', 'What is 3 + 4?']) expect(proseClass(text)).toBe('')
})
