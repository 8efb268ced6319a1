import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

test('which difference the seeds find is read from the report, and what the file expected', () => {
  const said = [
    '- Expected before the runs: as before, 6 seeds find 3.8 points in four of five studies.',
    '- Power: they varied, so 6 seeds find a difference of 5.9 points in four of five studies.',
  ]
  const report = `${files['report.md'].replaceAll(/^- (Power|Expected).*$/gm, '')}\n${said.join('\n')}\n`
  const own = new Map([['own', studyNumbers({ ...files, 'report.md': report }, {})]])
  expect(filled('{{own|power}} for {{own|expected}}', own)).toBe('5.9 for 3.8')
  const silent = files['report.md'].replaceAll(/^- Expected.*$/gm, '')
  own.set('own', studyNumbers({ ...files, 'report.md': silent }, {}))
  expect(() => filled('{{own|expected}}', own)).toThrow('its report to have it')
})

test('a number that is not there is an error', () => {
  expect(() => filled('{{none|GRPO|mean}}', studies)).toThrow('docs/studies/none has no table')
  expect(() => filled('{{deep|PPO|mean}}', studies)).toThrow('0 arms of this name')
  expect(() => filled('{{deep|GRPO|worth}}', studies)).toThrow('expected one of')
  expect(() => filled('{{deep|GRPO|difference}}', studies)).toThrow('does not have it')
})

test('a further primary measure has numbers of its own', () => {
  const root = mkdtempSync(join(tmpdir(), 'understory-paper-'))
  try {
    mkdirSync(join(root, 'two'))
    const head = '| arm | seeds |\n| --- | --- |\n'
    const report = `4 runs on x; seeds 1\n\n${head}| a | 1 |\n\n${head}| b | 1 |\n`
    writeFileSync(join(root, 'two/report.md'), report)
    const table = (mean) => `arm,seeds,mean,difference\nGRPO,2,${mean},\n`
    const runs = 'arm,seed,value\nGRPO,1,0.5\n'
    for (const [which, mean] of [
      ['', 0.25],
      ['_2', 0.75],
    ]) {
      writeFileSync(join(root, `two/table${which}.csv`), table(mean))
      writeFileSync(join(root, `two/runs${which}.csv`), runs)
    }
    const all = readStudies(root, { equivalenceTest, tInterval, studentQuantile })
    expect(filled('{{two|GRPO|mean}}, {{two#2|GRPO|mean}}', all)).toBe('25.0 %, 75.0 %')
    expect(filled('{{two#2|table}}', all)).toContain('| b | 1 |')
  } finally {
    rmSync(root, { recursive: true })
  }
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
      [...readFileSync('tools/paper/paper.md', 'utf8').matchAll(/\{\{([\w#]+)\|/g)].map(
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
