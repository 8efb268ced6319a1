import { expect, test } from 'vitest'
import { untracedWords } from './says.ts'

test('where no token has a colour, it is said when some will', () => {
  expect(untracedWords(true, false, false)).toContain('The next step of reinforcement will be.')
  expect(untracedWords(false, true, true)).toContain('“Look now” above traces the step after it.')
  expect(untracedWords(false, true, false)).toContain('“Look now” at the end of this tab traces')
  expect(untracedWords(false, false, true)).toMatch(/are known\.$/)
})
