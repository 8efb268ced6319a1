import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withParts } from './view.ts'
import { HIDE_PARTS, LOCK_PARTS, NO_OPTIONS, optionParts, readOptions } from './view_options.ts'

const anyOptions = fc.record({
  embed: fc.boolean(),
  hide: fc.subarray([...HIDE_PARTS]),
  lock: fc.subarray([...LOCK_PARTS]),
})

test('options survive their way through the address', () => {
  fc.assert(
    fc.property(anyOptions, (options) => {
      const hash = withParts('#tab=runs', optionParts(options))
      expect(readOptions(hash)).toEqual({ options, notices: [] })
    }),
  )
  expect(withParts('', optionParts(NO_OPTIONS))).toBe('')
})

test('names that are not known are said, and the others count', () => {
  const { options, notices } = readOptions('#embed=yes&hide=settings,moon,<b>&lock=phases,,train')
  expect(options).toEqual({ embed: false, hide: ['settings'], lock: ['phases'] })
  expect(notices).toEqual([
    "embed: expected 0 or 1, got 'yes'.",
    "The link would hide what is not known here: 'moon', '<b>'.",
    "The link would lock what is not known here: 'train'.",
  ])
  const many = readOptions(`#hide=${Array.from({ length: 500 }, (_, i) => `x${i}`).join(',')}`)
  expect(many.options).toEqual(NO_OPTIONS)
  expect(many.notices.join().length).toBeLessThan(200)
  expect(readOptions(`#hide=${'settings,'.repeat(2000)}`).notices[0]).toMatch(/too long/)
})

test('commas may come back escaped, and other hashes ask for nothing', () => {
  expect(readOptions('#hide=settings%2Cphases').options.hide).toEqual(['settings', 'phases'])
  for (const hash of ['', '#', '#v=1&p=tiny&hide=settings', '#card=1&hide=settings', '#tab=gpu'])
    expect(readOptions(hash)).toEqual({ options: NO_OPTIONS, notices: [] })
})

test('no hash makes it throw', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { options } = readOptions(`#hide=${text}&lock=${text}&embed=${text}`)
      expect(options.hide.every((part) => HIDE_PARTS.includes(part))).toBe(true)
    }),
  )
}, 60_000)
