import { expect, test } from 'vitest'
import { xmlText } from './xml_text.ts'

test('what no XML can hold is left out, and the rest stays', () => {
  expect(xmlText('a\u0000b\u001bc\uFFFF')).toBe('abc')
  expect(xmlText('two\nlines\tand 🌲 & <b>')).toBe('two\nlines\tand 🌲 & <b>')
})

test('half an emoji can be written into an address', () => {
  const half = '🌲'.slice(0, 1)
  expect(() => encodeURIComponent(half)).toThrow()
  expect(encodeURIComponent(xmlText(`x${half}`))).toBe('x%EF%BF%BD')
})
