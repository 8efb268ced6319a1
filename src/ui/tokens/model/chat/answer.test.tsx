import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { OpenedModelFacts } from '../../../../host/protocol/opened_model.ts'
import type { Written } from '../../../../page/opened/opened_model.ts'
import { Answer } from './Answer.tsx'

const facts = { vocab_size: 26 } as OpenedModelFacts
const shown = (written: Pick<Written, 'asked' | 'text'>) =>
  renderToStaticMarkup(
    <Answer written={{ ...written, parts: [], is_done: true }} facts={facts} />,
  ).replaceAll(/<[^>]*>/g, '')

test('a text that is continued is shown before what continues it, as one text', () => {
  expect(shown({ asked: { text: '12+7=', add_special_tokens: true }, text: '19' })).toBe('12+7=19')
})

test('an answer comes after the whole conversation', () => {
  const messages = [{ role: 'user', content: 'Hello' }] as const
  expect(shown({ asked: { messages }, text: 'Good day' })).toBe('You HelloModel Good day')
})
