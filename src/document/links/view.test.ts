import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isViewHash, MAX_HASH_LENGTH, TABS, tabOf, viewHash, viewParts, withParts } from './view.ts'

test('a tab survives its way through the address', () => {
  for (const tab of TABS) expect(tabOf(viewHash(tab))).toBe(tab)
  expect(viewHash('learn')).toBe('')
})

test('what is no tab shows the first one', () => {
  for (const hash of ['', '#tab=', '#tab=nonsense', '#v=1&p=tiny', '#hide=tabs'])
    expect(tabOf(hash)).toBe('learn')
  // A card is shown where benchmarks are.
  expect(tabOf('#card=1')).toBe('gpu')
  expect(isViewHash('#v=1&tab=runs')).toBe(false)
  expect(isViewHash('#tab=nonsense')).toBe(true)
  for (const hash of ['#embed=1', '#hide=settings', '#lock=phases', '#r=AQ'])
    expect(isViewHash(hash)).toBe(true)
})

test('another tab keeps what is hidden, locked and shared', () => {
  const hash = '#tab=inside&embed=1&hide=settings,phases&lock=experiment&r=AQ'
  expect(viewHash('runs', hash)).toBe(hash.replace('inside', 'runs'))
  expect(viewHash('learn', hash)).toBe(hash.replace('tab=inside&', ''))
  expect(viewHash('gpu', '#hide=tabs')).toBe('#tab=gpu&hide=tabs')
  expect(withParts(hash, { hide: undefined, lock: undefined })).toBe('#tab=inside&embed=1&r=AQ')
  expect(withParts('#r=AQ', { r: undefined })).toBe('')
  // A card or a link gives way.
  expect(viewHash('gpu', '#card=1&adapter=x')).toBe('#tab=gpu')
  expect(viewHash('gpu', '#v=1&p=tiny')).toBe('#tab=gpu')
})

test('only known parts are kept, the first of each, and nothing of a hash that is too long', () => {
  expect(viewParts('#hide=a&x=1&hide=b&__proto__=c&&=&tab')).toEqual({ hide: 'a' })
  expect(viewParts(`#hide=${'x'.repeat(MAX_HASH_LENGTH)}`)).toEqual({})
  fc.assert(
    fc.property(fc.string(), (text) => {
      const hash = `#hide=${text}`
      expect(viewParts(withParts(hash, {}))).toEqual(viewParts(hash))
      expect(TABS).toContain(tabOf(`#tab=${text}`))
    }),
  )
}, 60_000)
