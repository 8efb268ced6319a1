// The tables of docs/results.md and the page's list of studies are those of the reports in
// docs/studies.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { galleryEntry, readCsv, withStudies } from './study_said.mjs'

const kept = (name, file) => `docs/studies/${name}/${file}`

test('a row of a table has its cells by name, quoted ones too', () => {
  expect(readCsv('arm,p\n"a, ""b""",\nc,0.5\n')).toEqual([
    { arm: 'a, "b"', p: '' },
    { arm: 'c', p: '0.5' },
  ])
})

test('docs/results.md has the table of every study', () => {
  const text = readFileSync('docs/results.md', 'utf8')
  const csvOf = (name) => {
    const file = kept(name, 'table.csv')
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  expect(withStudies(text, csvOf)).toBe(text)
  const listed = [...text.matchAll(/<!-- study: (\w+) -->/g)].map(([, name]) => name)
  const files = readdirSync('bench/studies').map((file) => file.replace('.json', ''))
  expect(listed.sort()).toEqual(files.filter((name) => name !== 'smoke').sort())
})

test('the page lists every study with its answer', () => {
  const gallery = JSON.parse(readFileSync('src/page/study/gallery.json', 'utf8'))
  expect(gallery.length).toBeGreaterThan(0)
  for (const entry of gallery)
    expect(galleryEntry(entry.id, readFileSync(kept(entry.id, 'report.md'), 'utf8'))).toEqual(entry)
})
