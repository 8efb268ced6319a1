import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Terms } from './Terms.tsx'

test('no line begins with the sign behind a term', () => {
  const drawn = renderToStaticMarkup(<Terms text="First a warm start, then the policy learns." />)
  expect(drawn).toMatch(/<span class="term-signs"><button[^>]*>warm start<\/button>,<\/span> then/)
  const text = drawn.replace(/<[^>]*>/g, '')
  expect(text).toBe('First a warm start, then the policy learns.')
  expect(renderToStaticMarkup(<Terms text="The policy learns." />)).not.toContain('term-signs')
})
