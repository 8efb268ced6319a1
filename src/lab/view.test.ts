import { expect, test } from 'vitest'
import { isViewHash, TABS, tabOf, viewHash } from './view.ts'

test('a tab survives its way through the address', () => {
  for (const tab of TABS) expect(tabOf(viewHash(tab))).toBe(tab)
  expect(viewHash('learn')).toBe('')
})

test('what is no tab shows the first one', () => {
  for (const hash of ['', '#tab=', '#tab=nonsense', '#v=1&p=tiny'])
    expect(tabOf(hash)).toBe('learn')
  // A card is shown where benchmarks are.
  expect(tabOf('#card=1')).toBe('gpu')
  expect(isViewHash('#v=1&tab=runs')).toBe(false)
  expect(isViewHash('#tab=nonsense')).toBe(true)
})
