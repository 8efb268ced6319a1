import { expect, test } from 'vitest'
import { holdsPadding, shownText, tokenSign, tokenWords } from './token_text.ts'

test('whitespace gets a visible sign in texts of any length', () => {
  expect(shownText('a b\n\tc\r\n')).toBe('a␣b↵⇥c␍↵')
  expect(shownText('37+85=')).toBe('37+85=')
})

test('a special token is one sign in a box, and keeps its name where there is room', () => {
  expect(['<eos>', '<pad>', ' ', '\n', ' the', '7'].map(tokenSign)).toEqual([
    ...['∎', '∅', '␣', '↵', '␣the', '7'],
  ])
  expect(shownText('<eos>')).toBe('<eos>')
})

test('signs have words', () => {
  expect(['<eos>', '<pad>', ' ', '\n', 'r'].map(tokenWords)).toEqual([
    ...['end', 'padding', 'space', 'new line', 'r'],
  ])
})

test('padding in a response is found in its tokens and in its text', () => {
  expect([holdsPadding(['1', '<pad>']), holdsPadding('1<pad>'), holdsPadding('12')]).toEqual([
    ...[true, true, false],
  ])
})
