import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TokenizerFiles } from './hugging_face/tokenizer_files.ts'
import { loadTokenizer } from './load_tokenizer.ts'
import { LARGEST_BPE, SMALLEST_BPE, trainBpe } from './train_bpe.ts'

/** What Hugging Face's BpeTrainer makes of the texts in expected.json. */
const FOLDER = 'conformance/fixtures/hf/tokenizer_trained'
const read = (file: string) => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8'))
const { trained_on, vocab_size } = read('expected.json') as {
  trained_on: string[]
  vocab_size: number
}

const trained = (texts: readonly string[], size: number): TokenizerFiles => {
  const files = trainBpe(texts, { vocab_size: size })
  if (!files) throw new Error('expected files')
  return files
}
const mergesOf = (texts: readonly string[], size: number) =>
  JSON.parse(trained(texts, size)['tokenizer.json']).model.merges

describe('byte-pair encoding', () => {
  test('is the tokenizer that Hugging Face’s trainer makes of the same texts', () => {
    const own = JSON.parse(trained(trained_on, vocab_size)['tokenizer.json'])
    const { decoder: _own, ...rest } = own
    const { decoder: _, ...expected } = read('tokenizer.json')
    expect(rest).toEqual(expected)
    expect(own.model.merges).toHaveLength(vocab_size - SMALLEST_BPE)
  })

  test('merges the most frequent pair first, and of equals the one with the smaller bytes', () => {
    expect(mergesOf(['ab ab cd'], 260)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    expect(mergesOf(['dc', 'ba'], 259)).toEqual([['b', 'a']])
  })

  test('has fewer tokens where the texts have no further pair', async () => {
    const { vocab_size: size, tokens } = await loadTokenizer(trained(['hi'], 1000))
    expect([size, tokens.at(-1)]).toEqual([259, 'hi'])
  })

  test('the order of the texts makes no difference', () => {
    const texts = ['abc abd', 'bcd', 'aab']
    expect(mergesOf(texts.toReversed(), 270)).toEqual(mergesOf(texts, 270))
  })

  test('reports its progress and ends when it is told to', () => {
    const shares: number[] = []
    const files = trainBpe(trained_on, {
      vocab_size,
      onProgress: (share) => shares.push(share) < 3,
    })
    expect(files).toBeUndefined()
    expect(shares).toHaveLength(3)
    expect(shares[2]).toBeGreaterThan(shares[0])
  })

  test.for([SMALLEST_BPE - 1, LARGEST_BPE + 1, 300.5, Number.NaN])(
    'a vocabulary of %s tokens is refused',
    (size) => {
      expect(() => trainBpe(['a'], { vocab_size: size })).toThrow(/expected a vocabulary of 258 to/)
    },
  )

  test('no text to train on is refused', () => {
    expect(() => trainBpe(['', ''], { vocab_size: 300 })).toThrow(/expected texts to train on/)
  })

  test('any text comes back from its ids, also with bytes that no token joins', async () => {
    const { encode, decode } = await loadTokenizer(trained(trained_on, vocab_size))
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(...trained_on),
    )
    fc.assert(
      fc.property(text, (original) => {
        const ids = encode(original, { split_special_tokens: true })
        expect(decode(ids)).toBe(original.toWellFormed())
        expect(ids.every((id) => id > 1 && id < vocab_size)).toBe(true)
      }),
    )
  })

  test('tokens are shown as text, and parts of characters as bytes', async () => {
    const { tokens } = await loadTokenizer(trained(['é é é', ' a', ' a'], 300))
    expect(tokens).toContain(' é')
    expect(tokens).toContain(' a')
    expect(tokens).toContain('<0xC3>')
    expect(tokens.slice(0, 3)).toEqual(['<pad>', '<eos>', '!'])
    expect(new Set(tokens).size).toBe(tokens.length)
  })
})
