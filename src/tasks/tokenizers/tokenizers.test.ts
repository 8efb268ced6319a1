import fc from 'fast-check'
import { expect, test } from 'vitest'

import { arithmetic } from './arithmetic.ts'
import { alphabetOf, characters } from './characters.ts'

const { tokens, vocab_size, encode, decode } = arithmetic

test('arithmetic has 26 tokens, padding first, the end token second, none of them twice', () => {
  expect(vocab_size).toBe(26)
  expect(new Set(tokens).size).toBe(26)
  expect(tokens.slice(0, 4)).toEqual(['<pad>', '<eos>', '0', '1'])
  expect([arithmetic.pad_token_id, arithmetic.eos_token_id]).toEqual([0, 1])
})

test('text becomes one id per character', () => {
  expect(encode('09+=')).toEqual([2, 11, 12, 17])
  expect(encode('')).toEqual([])
})

test('any text of the vocabulary survives the round trip, padded after its end token', () => {
  const text = fc.string({ unit: fc.constantFrom(...tokens.slice(2)), maxLength: 20 })
  fc.assert(
    fc.property(text, fc.nat(3), (original, padding) => {
      const pad = Array.from({ length: padding }, () => 0)
      expect(decode([...encode(original), 1, ...pad])).toBe(original)
      expect(decode(encode(original))).toBe(original)
    }),
  )
})

test('a padding token that was sampled shows, so that it cannot pass for a right answer', () => {
  expect(decode([3, 0, 4, 1])).toBe('1<pad>2')
})

test('decoding stops at the first end token', () => {
  expect(decode([...encode('12'), 1, ...encode('34'), 1])).toBe('12')
  expect(decode([1, 5])).toBe('')
})

test('a character outside the vocabulary is an error that names it', () => {
  expect(() => encode('1a')).toThrow(/"a" in "1a"/)
  expect(() => encode('<eos>')).toThrow(RangeError)
})

test('an id that a larger model samples shows, and makes no answer right', () => {
  expect(decode([...encode('12'), 26, ...encode('3'), 1])).toBe('12\ufffd3')
})

test('an alphabet is sorted by code point, whatever the order of the texts', () => {
  expect(alphabetOf(['b a', 'ä\n', 'a😀'])).toBe('\n abä😀')
  expect(alphabetOf(['a😀', 'ä\n', 'b a'])).toBe(alphabetOf(['b a', 'ä\n', 'a😀']))
})

test('a character outside the basic plane is one token', () => {
  const own = characters(alphabetOf(['😀!']))
  expect(own.tokens).toEqual(['<pad>', '<eos>', '!', '😀'])
  expect(own.decode(own.encode('😀!😀'))).toBe('😀!😀')
})

test('an alphabet without characters, or with one twice, makes no tokenizer', () => {
  expect(() => characters('')).toThrow(/expected an alphabet/)
  expect(() => characters('aba')).toThrow(/each character once, got "a" twice/)
})
