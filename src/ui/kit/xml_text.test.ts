import { expect, test } from 'vitest'
import { cutText, xmlText } from './xml_text.ts'

test('what no XML can hold is left out, and the rest stays', () => {
  expect(xmlText('a\u0000b\u001bc\uFFFF')).toBe('abc')
  expect(xmlText('two\nlines\tand 🌲 & <b>')).toBe('two\nlines\tand 🌲 & <b>')
})

test('a text is cut between letters', () => {
  expect(cutText('🌲🌲🌲', 3)).toBe('🌲🌲🌲')
  expect(cutText('🌲🌲🌲', 2)).toBe('🌲…')
})

test('half an emoji can be written into an address', () => {
  const half = '🌲'.slice(0, 1)
  expect(() => encodeURIComponent(half)).toThrow()
  expect(encodeURIComponent(xmlText(`x${half}`))).toBe('x%EF%BF%BD')
})
