import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { OPENING } from '../../../../document/presets/presets.ts'
import type { OpenedModelFacts } from '../../../../host/protocol/opened_model.ts'
import type { Written } from '../../../../page/opened/opened_model.ts'
import { Answer } from './Answer.tsx'

const facts = { vocab_size: 26 } as OpenedModelFacts
const shown = (written: Pick<Written, 'asked' | 'text'>) =>
  renderToStaticMarkup(
    <Answer
      written={{ ...written, parts: [], is_done: true }}
      facts={facts}
      experiment={OPENING.experiment}
    />,
  ).replaceAll(/<[^>]*>/g, '')

test('a text that is continued is shown before what continues it, as one text', () => {
  expect(shown({ asked: { text: '12+7=', add_special_tokens: true }, text: '19' })).toBe('12+7=19')
})

test('an answer comes after the whole conversation', () => {
  const messages = [{ role: 'user', content: 'Hello' }] as const
  expect(shown({ asked: { messages }, text: 'Good day' })).toBe('You HelloModel Good day')
})

test('an answer to a problem of the task is judged, and any other text is not', () => {
  const asked = (text: string) => ({ asked: { text, add_special_tokens: true } })
  expect(shown({ ...asked('312>'), text: '123' })).toContain('✓ right')
  expect(shown({ ...asked('312>'), text: '132' })).toMatch(/✗ wrong The right answer is 123/)
  expect(shown({ ...asked('hello'), text: '132' })).toBe('hello132')
})
