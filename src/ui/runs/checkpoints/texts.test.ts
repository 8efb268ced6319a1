import { expect, test } from 'vitest'
import { agoText, guardText, lossText, problemText } from './texts.ts'

test('every interruption has its own title and says from where the run continues', () => {
  const losses = [
    { what: 'gpu', is_waiting: false, is_blocked: false },
    { what: 'gpu', is_waiting: true, is_blocked: false },
    { what: 'gpu', is_waiting: true, is_blocked: true },
    { what: 'worker', is_waiting: false, is_blocked: false },
  ] as const
  const texts = losses.map((loss) => lossText({ ...loss, step: 120, message: '' }))
  expect(new Set(texts.map(({ title }) => title)).size).toBe(losses.length)
  for (const { text } of texts) expect(text).toContain('step 120')
  expect(lossText({ ...losses[0], step: 0, message: '' }).text).toContain('its first step')
})

test('what the browser says is passed on where the page knows no better', () => {
  for (const code of ['unavailable', 'corrupt', 'other'] as const)
    expect(problemText({ code, message: 'a reason' }).text).toContain('a reason')
  for (const code of ['full', 'read_only'] as const)
    expect(problemText({ code, message: 'a reason' }).text).not.toContain('a reason')
})

test('times are told in the largest unit that fits', () => {
  expect(agoText(0, 59_000)).toBe('just now')
  expect(agoText(0, 120_000)).toBe('2 minutes ago')
  expect(agoText(0, 3_600_000)).toBe('1 hour ago')
  expect(agoText(0, 3 * 86_400_000)).toBe('3 days ago')
})

test('weights that are no numbers are told as such, with why nothing was kept', () => {
  const step = { step: 9, metrics: ['actor/entropy'], skipped: 0 }
  const unsound = { model: 'actor', part: 'weights' } as const
  const text = guardText({ step: 7, broken: [{ ...step, unsound }] })
  expect(text).toMatch(
    /^The weights are not finite .* no checkpoint of them was written\. .* step 7/,
  )
  expect(guardText({ step: 7, broken: [step] })).not.toContain('weights')
})
