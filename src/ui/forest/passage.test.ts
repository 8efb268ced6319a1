import { expect, test } from 'vitest'
import { changedWords } from '../kit/changed_words.ts'
import { CUT, lastPassage, lastRuns } from './passage.ts'

const TOLD =
  'Once upon a time, a funny dog called Anna lived on a farm. She often dreamed of lightning. "Come with me," said Finn eagerly. Anna held his hand and breathed softly.'

test('of a long prompt its last whole sentences are left, and a short one is as it was', () => {
  expect(lastPassage(TOLD)).toBe(
    `${CUT}She often dreamed of lightning. "Come with me," said Finn eagerly. Anna held his hand and breathed softly.`,
  )
  expect(lastPassage('sort 3 1 2')).toBe('sort 3 1 2')
  expect(lastPassage('He had a red kite and he was very glad.')).not.toContain(CUT)
  const endless = Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ')
  expect(lastPassage(endless)).toMatch(/^… w20 .* w39$/)
})

test('of a long answer the end is left, with its changes still marked', () => {
  const middle = Array.from({ length: 40 }, (_, i) => ` w${i}`).join('')
  const { after } = changedWords(`He ran.${middle} He cried.`, `He ran.${middle} He smiled.`)
  const cut = lastRuns(after)
  expect(cut[0]).toEqual({ text: CUT, isChanged: false })
  expect(cut.at(-1)).toEqual({ text: ' smiled.', isChanged: true })
  expect(cut.map(({ text }) => text).join('')).not.toContain('w5')
  expect(lastRuns(after.slice(-1))).toEqual(after.slice(-1))
})
