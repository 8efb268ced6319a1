import { expect, test } from 'vitest'
import { holdsPadding, shownText, tokenSign, tokenTitle, tokenWords } from './token_text.ts'

test('whitespace gets a visible sign where it could be missed', () => {
  expect(shownText('a b\n\tc\r\n')).toBe('a b↵⇥c␍↵')
  expect(['12 ', ' 12', 'a  b', ' '].map(shownText)).toEqual(['12␣', '␣12', 'a␣␣b', '␣'])
  expect(shownText('37+85=')).toBe('37+85=')
})

test('a story is read with its spaces, and what is odd about them is seen', () => {
  expect(shownText(' One day, the kite was gone.')).toBe(' One day, the kite was gone.')
  expect(shownText('The kite  was gone. ')).toBe('The kite␣␣was gone.␣')
})

test('a special token is one sign in a box, and keeps its name where there is room', () => {
  expect(['<eos>', '<pad>', ' ', '\n', ' the', '7'].map(tokenSign)).toEqual([
    '∎',
    '∅',
    '␣',
    '↵',
    '␣the',
    '7',
  ])
  expect(shownText('<eos>')).toBe('<eos>')
  expect(shownText('<pad>347')).toBe('∅347')
})

test('signs have words', () => {
  expect(['<eos>', '<pad>', ' ', '\n', 'r'].map(tokenWords)).toEqual([
    'end',
    'padding',
    'space',
    'new line',
    'r',
  ])
})

test('padding in a response is found in its tokens and in its text', () => {
  expect([holdsPadding(['1', '<pad>']), holdsPadding('1<pad>'), holdsPadding('12')]).toEqual([
    true,
    true,
    false,
  ])
})

test('what cannot be seen is a number, and what belongs to an emoji stays', () => {
  expect(shownText('a\u200bb\ufeff\u00a0\u0000\u2028')).toBe(
    'a⟨U+200B⟩b⟨U+FEFF⟩⟨U+00A0⟩⟨U+0000⟩⟨U+2028⟩',
  )
  expect(shownText('👩\u200d👧 ❤\ufe0f\u200d🔥')).toBe('👩\u200d👧 ❤\ufe0f\u200d🔥')
  expect(shownText('\u200d')).toBe('⟨U+200D⟩')
  expect(tokenSign('\u0301')).toBe('◌\u0301')
})

test('bytes that are no text are numbers', () => {
  expect(tokenSign('<0xE2><0x96>')).toBe('0xE2 0x96')
  expect(tokenWords('<0xE2><0x96>')).toBe('byte E2 96')
  expect(tokenTitle('<0xE2>', 162, false)).toBe('a part of a character, bytes E2, id 162')
})

test('a title gives the text, its bytes and its id', () => {
  expect(tokenTitle(' é', 300, false)).toBe('" é", bytes 20 C3 A9, id 300')
  expect(tokenTitle('\n', undefined, false)).toBe('"\\n", bytes 0A')
  expect(tokenTitle('<|im_end|>', 151645, true)).toBe('<|im_end|>, a special token, id 151645')
})

test('a word with a space before it is read so', () => {
  expect([' the', '\n\n', 'constructor'].map(tokenWords)).toEqual([
    'space the',
    'new line  new line',
    'constructor',
  ])
})
