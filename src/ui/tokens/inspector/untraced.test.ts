import { expect, test } from 'vitest'
import { untracedWords } from './Inspector.tsx'

test('where no token has a colour, it is said when some will', () => {
  expect(untracedWords(true, false)).toContain('The next step of reinforcement will be.')
  expect(untracedWords(false, true)).toContain('“Look now” traces the step after it.')
  expect(untracedWords(false, false)).toMatch(/are known\.$/)
})
