// Firefox draws the caption of a clipped table, so what only screen readers are told is hidden
// around a table, never as one.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('no table hides itself', () => {
  const files = readdirSync('src/ui', { recursive: true, encoding: 'utf8' })
  const pages = files.filter((file) => file.endsWith('.tsx'))
  expect(pages.length).toBeGreaterThan(100)
  const hidden = pages.filter((file) =>
    /<table[^>]*visually-hidden/.test(readFileSync(join('src/ui', file), 'utf8')),
  )
  expect(hidden).toEqual([])
})
