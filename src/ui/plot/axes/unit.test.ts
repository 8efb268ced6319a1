import { expect, test } from 'vitest'
import { translateWith } from '../../kit/translator.ts'
import { allTexts } from '../../language/testing.ts'
import { unitOf } from './unit.ts'

test('the words of a chart name the unit of its axis, or none', () => {
  expect(unitOf('nats per token, over one update')).toBe('nats')
  expect(unitOf('Nats, from 0 (certain of one token) to ln V.')).toBe('nats')
  expect(unitOf('cross-entropy of demonstrations, nats per token')).toBe('nats')
  expect(unitOf('tokens, end token included')).toBe('tokens')
  expect(unitOf('tokens per second, of prompts and responses')).toBe('tok/s')
  expect(unitOf('seconds, of every step')).toBe('s')
  expect(unitOf('share of tokens whose ratio was clipped')).toBeUndefined()
  expect(unitOf('of the better response minus the other; beta times nats')).toBeUndefined()
})

test('in Chinese a unit is one word, on an axis and behind a number', () => {
  const texts = allTexts()
  translateWith({
    locale: 'zh-CN',
    text: (english) => texts.translate(english),
    props: (_, props) => props,
  })
  expect(unitOf('seconds, of every step')).toBe('秒')
  expect(unitOf('tokens per second, of prompts and responses')).toBe('token/秒')
  expect(unitOf('nats per token')).toBe('nats')
  translateWith(undefined)
})
