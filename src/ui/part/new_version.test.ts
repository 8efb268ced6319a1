import { expect, test } from 'vitest'
import { isOtherVersion } from './new_version.ts'

const page = (script: string) =>
  `<!doctype html><title>Understory</title><script type="module" crossorigin src="./assets/${script}"></script>`
const own = 'https://lab.example/app/assets/index-AbC123.js'

test('a page that loads another program is another version', () => {
  expect(isOtherVersion(page('index-XyZ789.js'), own)).toBe(true)
  expect(isOtherVersion(page('index-AbC123.js'), own)).toBe(false)
})

test('what is no page of ours, e.g. of a portal that asks to log in without a script, says nothing', () => {
  expect(isOtherVersion('<!doctype html><h1>502 Bad Gateway</h1>', own)).toBe(false)
  expect(isOtherVersion(page('index-XyZ789.js'), '')).toBe(false)
})
