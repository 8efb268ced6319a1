import { describe, expect, test } from 'vitest'
import { arithmetic } from '../tokenizers/arithmetic.ts'
import { readVocabulary } from './vocabulary.ts'

describe('a vocabulary of words', () => {
  const json = (model: unknown, added: unknown = []) =>
    JSON.stringify({ model, added_tokens: added })

  test('special tokens are left out of texts', () => {
    const vocab = Object.fromEntries(arithmetic.tokens.map((text, id) => [text, id]))
    const added = [0, 1].map((id) => ({ id, special: true }))
    const found = readVocabulary(json({ type: 'WordLevel', vocab }, added), 'tokenizer.json')
    expect(found.tokens).toEqual(arithmetic.tokens)
    expect(found.decode([...arithmetic.encode('12='), 0, 3, 1])).toBe('12=1')
  })

  test.for([
    ['{', /expected a tokenizer in JSON/],
    ['{}', /model\.type: expected WordLevel.*found none/],
    [json({ type: 'BPE', vocab: {} }), /found BPE/],
    [json({ type: 'WordLevel', vocab: { a: 0, b: 2 } }), /every id from 0 on once/],
  ] as const)('%s is refused', ([text, message]) => {
    expect(() => readVocabulary(text, 'tokenizer.json')).toThrow(message)
  })
})
