import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { equivalenceTest } from '../../src/document/study/statistics/equivalence.ts'
import { studentQuantile, tInterval } from '../../src/document/study/statistics/student.ts'
import { csvRows, filled, pooledEffect, readStudies, studyNumbers, withKnown } from './numbers.mjs'

const kept = (file) => readFileSync(`docs/studies/bupo_pretrained_deep/${file}`, 'utf8')
const files = Object.fromEntries(
  ['table.csv', 'runs.csv', 'report.md'].map((file) => [file, kept(file)]),
)
const studies = new Map([['deep', studyNumbers(files, { equivalenceTest, tInterval })]])

test('a cell may be quoted', () => {
  expect(csvRows('a,b\n"x, ""y""",2\n,3\n')).toEqual([
    { a: 'x, "y"', b: '2' },
    { a: '', b: '3' },
  ])
})

test('numbers are those of the tables, and differences are paired by seed', () => {
  const [grpo, bupo] = csvRows(files['table.csv'])
  const text = filled(`{{deep|GRPO|mean}}; {{deep|${bupo.arm}|difference}}`, studies)
  expect(text).toContain(`${(100 * Number(grpo.mean)).toFixed(1)} %; `)
  const found = /[+−]?([\d.]+) \[/.exec(text)?.[1]
  expect(Number(found)).toBeCloseTo(Math.abs(100 * Number(bupo.difference)), 0.9)
  expect(filled(`{{deep|${bupo.arm}|equal3}}`, studies)).toMatch(/^(< 0\.001|0\.\d+)$/)
})

test('a number that is not there is an error', () => {
  expect(() => filled('{{none|GRPO|mean}}', studies)).toThrow('docs/studies/none has no table')
  expect(() => filled('{{deep|PPO|mean}}', studies)).toThrow('0 arms of this name')
  expect(() => filled('{{deep|GRPO|worth}}', studies)).toThrow('expected one of')
  expect(() => filled('{{deep|GRPO|difference}}', studies)).toThrow('does not have it')
})

test('what is known goes between its markers', () => {
  expect(withKnown('# A\n\n<!-- known -->old<!-- end known -->\n\nb', '| x |\n')).toBe(
    '# A\n\n<!-- known -->\n\n| x |\n\n<!-- end known -->\n\nb',
  )
})

test('effects of several studies are pooled with the spread between them', () => {
  // By hand: weights 1, 1 and 1 / 4; Q is 2, what chance gives, so nothing lies between them.
  const effects = [
    { mean: 0, variance: 1 },
    { mean: 2, variance: 1 },
    { mean: 1, variance: 4 },
  ]
  const { mean, low, high } = pooledEffect(effects, studentQuantile)
  expect(mean).toBeCloseTo(1, 12)
  expect((high + low) / 2).toBeCloseTo(mean, 12)
  // t(0.975, 2) = 4.30265 times √(2 / (2 · 2.25)).
  expect(high - mean).toBeCloseTo(4.30265 * Math.sqrt(1 / 2.25), 4)
  // Alike studies leave nothing between them: the mean by inverse variance.
  const alike = effects.map(({ variance }, i) => ({ mean: 1 + 0.01 * i, variance }))
  expect(pooledEffect(alike, studentQuantile).mean).toBeCloseTo((1 + 1.01 + 1.02 / 4) / 2.25, 12)
})

test('the paper and the table of what is known have the numbers of the committed studies', () => {
  const names = [
    ...new Set(
      [...readFileSync('tools/paper/paper.md', 'utf8').matchAll(/\{\{(\w+)\|/g)].map(
        ([, name]) => name,
      ),
    ),
  ]
  expect(names.length).toBeGreaterThan(5)
  const all = readStudies('docs/studies', { equivalenceTest, tInterval, studentQuantile })
  const text = (file) => filled(readFileSync(`tools/paper/${file}`, 'utf8'), all)
  expect(readFileSync('docs/paper.md', 'utf8')).toBe(text('paper.md'))
  const opening = readFileSync('docs/studies/README.md', 'utf8')
  expect(withKnown(opening, text('known.md'))).toBe(opening)
})
