import { expect, test } from 'vitest'
import { cutText } from './cut_text.ts'

test('a text is cut between letters, and says so', () => {
  expect(cutText('🌲🌲🌲', 3)).toBe('🌲🌲🌲')
  expect(cutText('🌲🌲🌲', 2)).toBe('🌲…')
  expect(cutText('GRPO, lr 3e-4', 10)).toBe('GRPO, lr …')
})
