// The tables of docs/results.md and the page's list of studies are those of the reports in
// docs/studies.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { armsTable, galleryOf, withStudies } from './study_said.mjs'

const kept = (name, file) => `docs/studies/${name}/${file}`

test('of the table of a report the columns that say what was found are taken', () => {
  const report = [
    '# A study',
    '',
    '| arm | seeds | mean ± sd, % | IQM, % | spent | gain, points | difference [95 %], points | p (Holm) |  |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    '| a | 2 | 50.0 ± 1.0 | 50.0 | 64 | 100 % |  |  |  |',
    '| b \\| c | 2 | 60.0 ± 1.0 | 60.0 | 64 | 112 % | +10.0 [+8.0, +12.0] | 0.02 | better |',
    '',
    '| arm | layer 1 |',
  ].join('\n')
  expect(armsTable(report).split('\n')).toEqual([
    '| arm | seeds | mean ± sd, % | difference [95 %], points | p (Holm) |  |',
    '| --- | --- | --- | --- | --- | --- |',
    '| a | 2 | 50.0 ± 1.0 |  |  |  |',
    '| b \\| c | 2 | 60.0 ± 1.0 | +10.0 [+8.0, +12.0] | 0.02 | better |',
  ])
  expect(() => armsTable('# A study')).toThrow('no table of arms')
})

test('docs/results.md has the table of every study', () => {
  const text = readFileSync('docs/results.md', 'utf8')
  const reportOf = (name) => {
    const file = kept(name, 'report.md')
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  expect(withStudies(text, reportOf)).toBe(text)
  const listed = [...text.matchAll(/<!-- study: (\w+) -->/g)].map(([, name]) => name)
  const files = readdirSync('bench/studies').map((file) => file.replace('.json', ''))
  expect(listed.sort()).toEqual(files.filter((name) => name !== 'smoke').sort())
})

test('the page lists every study with its answer', () => {
  const gallery = JSON.parse(readFileSync('src/page/study/gallery.json', 'utf8'))
  expect(gallery.length).toBeGreaterThan(0)
  const reports = gallery.map(({ id }) => [id, readFileSync(kept(id, 'report.md'), 'utf8')])
  expect(galleryOf(reports)).toEqual(gallery)
  // No question names a file.
  for (const { question } of gallery) expect(question).not.toMatch(/\w_\w/)
})
