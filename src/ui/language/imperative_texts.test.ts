// Asks of what a module writes into an element by itself, past the translator of elements, that it
// is translated there.
import { expect, test } from 'vitest'

const FILES = import.meta.glob<string>(['../**/*.{ts,tsx}', '!../**/*.test.{ts,tsx}'], {
  eager: true,
  query: '?raw',
  import: 'default',
})
/** A text in quotes, with a word and a space. */
const WRITES =
  /\.(?:dataset\.\w+|title|textContent|innerText|ariaLabel|placeholder) = ['"`][^'"`]*[A-Za-z]{2,} |setAttribute\(\s*'(?:aria-label|title|placeholder)',\s*['"`]|fillText\(['"`]/

test('a text that is written into an element goes through t', () => {
  const found = Object.entries(FILES).flatMap(([file, source]) =>
    source.split('\n').flatMap((line) => (WRITES.test(line) ? [`${file}: ${line.trim()}`] : [])),
  )
  expect(found).toEqual([])
})

test('the test finds such a text', () => {
  expect(WRITES.test("element.dataset.step = 'step of'")).toBe(true)
  expect(WRITES.test("element.dataset.step = t('step of')")).toBe(false)
})
