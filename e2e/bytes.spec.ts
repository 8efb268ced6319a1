// Holds what a person loads before anything can be seen to a budget, so that it does not grow
// unnoticed.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from './lab_page.ts'

/** Of JavaScript, gzipped. */
const BUDGET = 200_000
const APP = 'dist/app'

/** A module and everything that it imports statically. */
function loaded(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found
  found.add(path)
  const source = readFileSync(join(APP, path), 'utf8')
  for (const [, name] of source.matchAll(
    /(?:^|[;}\s])(?:import|export)\b[^'"();]*["'](\.[^"']+\.js)["']/g,
  ))
    loaded(join(dirname(path), name), found)
  return found
}

test('the JavaScript that is loaded first stays within its budget', () => {
  const page = readFileSync(join(APP, 'index.html'), 'utf8')
  const entries = [...page.matchAll(/(?:src|href)="\.\/([^"]+\.js)"/g)].map(([, path]) => path)
  expect(entries.length).toBeGreaterThan(0)
  const files = new Set(entries.flatMap((entry) => [...loaded(entry)]))
  const sizes = [...files].map((path) => gzipSync(readFileSync(join(APP, path))).length)
  const sum = sizes.reduce((total, size) => total + size, 0)
  // An index without React would mean that something is not counted.
  expect(sum).toBeGreaterThan(60_000)
  expect(sum).toBeLessThanOrEqual(BUDGET)
})
