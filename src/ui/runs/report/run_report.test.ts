import { expect, test } from 'vitest'
import { appendRow, type Series } from '../../../host/columns/series.ts'
import { runName } from '../../../record/run/names.ts'
import { extendSummary } from '../../../record/run/summary.ts'
import { translateWith } from '../../kit/translator.ts'
import { allTexts } from '../../language/testing.ts'
import { greedyAccuracy, layerEntropy, REWARD } from '../../shown/metrics.ts'
import { type DistinctName, distinctNames } from '../../shown/names/distinct_names.ts'
import { FIRST_VIEW } from '../base/table.ts'
import { entryOf } from '../table/testing.ts'
import { runReport } from './run_report.ts'

/** A run and its column of accuracies. */
function runOf(
  id: string,
  said: Parameters<typeof entryOf>[1],
  values: readonly number[],
  labels = {},
) {
  const columns = new Map<string, Series>()
  const entry = entryOf(id, said, labels)
  values.forEach((value, step) => {
    appendRow(columns, greedyAccuracy(entry.header.experiment.task.id), step, value)
  })
  return { entry, columns }
}

const READING = {
  ...FIRST_VIEW,
  band: 't95',
  said: undefined,
  names: new Map<string, DistinctName>(),
} as const

const RUNS = [
  runOf('a', { seed: 1, greedy: 0.5 }, [0, 0.5], { notes: 'the first', tags: ['paper'] }),
  runOf('b', { seed: 2, greedy: 0.7 }, [0, 0.7]),
  runOf('c', { lr: 0.01 }, [], { name: 'a | b <script>' }),
]

test('a report has the numbers, the means, what differs, curves and a link to every run', () => {
  const files = runReport(RUNS, READING, 'https://lab.example/')
  expect([...files.keys()]).toEqual(['report.md', 'curves.csv', 'greedy.svg'])
  const text = files.get('report.md') ?? ''
  expect(text).toContain('# Comparison of 3 runs')
  expect(text).toMatch(/\| a \| paper \| 1 \| .* \| 50\.0 % \|/)
  // Two seeds of one experiment: their mean, between the lowest and the highest, and no
  // mean of the lone run.
  expect(text).toMatch(/\| \S.* \| 2 \| 60\.0 % \(50\.0 % to 70\.0 %\) \|/)
  expect(text).toContain('| lr | 0.001 | 0.001 | 0.01 |')
  expect(text).toContain('![held-out accuracy, greedy](greedy.svg)')
  expect(text).toContain('the first')
  expect(text.match(/\[Run it again\]\(https:\/\/lab\.example\/\?v=/g)).toHaveLength(3)
  // A name is text: it neither ends a cell nor becomes markup.
  expect(text).toContain('a \\| b \\<script\\>')
  expect(files.get('greedy.svg')).toContain('<svg')
})

test('a report says a change by hand with the values that its field had', () => {
  const [a] = RUNS
  const set = { step: 4, kind: 'set', path: 'rollout.temperature', value: 1.6 } as const
  const { header } = a.entry
  const document = { ...header.document, steering: [set] }
  const b = { ...a, entry: { ...a.entry, id: 'b', header: { ...header, document } } }
  const text = runReport([a, b], READING, '').get('report.md') ?? ''
  expect(text).toContain('| temperature | 1 | 1, then 1.6 after step 4 |')
  expect(text).not.toContain('| done by hand')
  expect(text).toContain('Changed by hand: Temperature 1, then 1.6 after step 4.')
})

test('a report pairs groups by seed, and has every value as a table', () => {
  const [a, b] = RUNS
  const other = runOf('d', { seed: 1, lr: 0.01, greedy: 0.6 }, [0, 0.6])
  const files = runReport([a, b, other], READING, '')
  const text = files.get('report.md') ?? ''
  expect(text).toContain('## Differences by seed')
  // Of seed 1 alone: 60 % less 50 %.
  expect(text).toMatch(/\| \S.* \| \+10\.0 points \(seed 1 alone\) \|/)
  const [head, ...rows] = (files.get('curves.csv') ?? '').trim().split('\n')
  expect(head).toBe('run,seed,metric,step,value')
  expect(rows).toHaveLength(6)
  expect(rows.at(-1)).toMatch(/,1,.*,0\.6$/)
})

test('a report has the words of the page, and pairs the numbers of its table', () => {
  const rewarded = (run: (typeof RUNS)[number], ...rewards: number[]) => {
    const summaries = { [REWARD]: extendSummary(undefined, rewards) }
    return { ...run, entry: { ...run.entry, header: { ...run.entry.header, summaries } } }
  }
  const runs = [
    rewarded(runOf('a', { seed: 1 }, []), 0.2, 0.75),
    rewarded(runOf('b', { seed: 1, lr: 0.01 }, []), 0.2, 0.8),
  ]
  const textOf = (isSmoothed: boolean) =>
    runReport(runs, { ...READING, isSmoothed, said: '“A” and “B” end apart.' }, '').get('report.md')
  expect(textOf(false)).toContain('“A” and “B” end apart.')
  expect(textOf(false)).toMatch(/\| a \|.* 75\.0 % \|/)
  expect(textOf(false)).toContain('| +5.0 points (seed 1 alone) |')
  // Smoothed, both tables are.
  expect(textOf(true)).toContain('| +2.6 points (seed 1 alone) |')
})

test('a run that measured nothing has a report too', () => {
  const files = runReport([RUNS[2]], READING, '')
  expect([...files.keys()]).toEqual(['report.md'])
  expect(files.get('report.md')).toContain('None of the runs has measured two steps.')
})

test('a report says no setting of a run that was imported', () => {
  const source = { kind: 'verl', file: 'verl.jsonl', remarks: [] }
  const [a, , c] = RUNS
  const imported = { ...a, entry: { ...a.entry, header: { ...a.entry.header, source } } }
  const text = runReport([imported, c], READING, '').get('report.md') ?? ''
  expect(text).toContain('Of imported runs no setting is known.')
  expect(text).not.toContain('| lr |')
})

/** Two runs of one setting whose layers were measured. */
const LAYERED = [1, 2].map((seed) => {
  const run = runOf(`l${seed}`, { seed, greedy: 1 }, [0.5, seed === 1 ? 0.9 : 1])
  const layers = run.entry.header.experiment.model.num_hidden_layers
  for (let layer = 0; layer <= layers; layer++)
    for (const step of [0, 10]) appendRow(run.columns, layerEntropy(layer), step, layer + step / 10)
  return run
})

const areas = (svg: string) => [...svg.matchAll(/<path d="M([^"Z]+)Z"/g)].map(([, path]) => path)

test('seeds of one setting are one line with a band that ends where the measure ends', () => {
  const svg = runReport(LAYERED, READING, '').get('greedy.svg') ?? ''
  const [area, ...others] = areas(svg)
  expect(others).toEqual([])
  // The axis ends at the highest value: an interval beyond 1 would move 1 below the upper edge.
  const top = Math.min(...area.split('L').map((point) => Number(point.split(' ')[1])))
  const one = Number(/y="([\d.]+)" text-anchor="end">1</.exec(svg)?.[1]) - 4
  expect(Math.abs(top - one)).toBeLessThan(0.2)
  const alone = runReport(LAYERED, { ...READING, band: undefined }, '').get('greedy.svg') ?? ''
  expect(new Set(areas(alone)).size).toBe(2)
})

test('the maps layer × step are small multiples on one scale', () => {
  const files = runReport(LAYERED, READING, '')
  const svg = files.get('maps.svg') ?? ''
  expect(files.get('report.md')).toMatch(/!\[[^\]]{10,}\]\(maps\.svg\)/)
  expect(svg.match(/<g transform/g)).toHaveLength(2)
  expect(svg).toContain('step 0')
  expect(svg).toMatch(/>\d+ nats</)
  const layers = LAYERED[0].entry.header.experiment.model.num_hidden_layers
  // Each layer has the stretch of step 0 and that of step 10 at least.
  expect(svg.match(/fill="rgb/g)?.length).toBeGreaterThanOrEqual(2 * (layers + 1))
})

test('a run is called in its report as in the list, with its whole name once', () => {
  const own = [1, 2].map((seed) => runOf(`n${seed}`, { seed, greedy: 0.5 }, [0, 0.5]))
  const entries = own.map(({ entry }) => entry)
  const names = distinctNames(entries)
  const short = own.map(({ entry }) => names.get(entry.id)?.name ?? '')
  const whole = own
    .map(({ entry }) => runName(entry).differs)
    .filter((name) => !short.includes(name))
  expect(whole).not.toEqual([])
  const text = runReport(own, { ...READING, names }, '').get('report.md') ?? ''
  for (const name of short) expect(text).toContain(`### ${name}\n`)
  for (const name of whole) expect(text.split('\n').filter((line) => line === name)).toHaveLength(1)
  const head = `| setting | ${short.join(' | ')} |`
  expect(text).toContain(head)
})

/** The report in Chinese. */
function inChinese(...args: Parameters<typeof runReport>): ReadonlyMap<string, string> {
  const texts = allTexts()
  translateWith({ locale: 'zh-CN', text: (text) => texts.translate(text), props: (_, own) => own })
  try {
    return runReport(...args)
  } finally {
    translateWith(undefined)
  }
}

/** Words of English, but for names that stay, links and the table's lines. */
const englishOf = (text: string) =>
  text
    .replaceAll(/\[curves\.csv|\]\([^)]*\)|<[^>]*>|Test adapter|nats|the first|paper/g, '')
    .match(/\b[a-z]{3,}\b/g)

test('a report is written in the page’s language, its tables and pictures too', () => {
  const files = inChinese(RUNS, READING, 'https://lab.example/')
  const text = files.get('report.md') ?? ''
  expect(text).toContain('# 3 次运行的比较\n')
  expect(text).toContain('| 50.0% |')
  expect(text).toContain('| 60.0%（50.0% 到 70.0%） |')
  expect(text).toContain('![留出准确率（贪心）](greedy.svg)')
  expect(text.match(/\[重新运行\]\(https/g)).toHaveLength(3)
  expect(englishOf(text)).toBeNull()
  expect(files.get('greedy.svg')).toContain('留出准确率（贪心）')
})

test('no name of a run, and nothing said of two, stays in English', () => {
  const other = runOf('b', { seed: 2, lr: 0.01, greedy: 0.6 }, [0, 0.6])
  const names = ['GRPO, layer 2 first, seed 1', 'BuPO (REINFORCE++), phase 2: 6 steps, seed 2']
  const of = (seeds: readonly ReturnType<typeof runOf>[]) =>
    new Map(seeds.map(({ entry }, i) => [entry.id, { name: names[i], seedless: 'GRPO, lr 0.01' }]))
  const said = `They took 10 to 45 steps; with all of them they end so: “${names[0]}” at 94.5 %, “${names[1]}” at 87.5 %. One run each.`
  for (const runs of [[LAYERED[0], other], LAYERED]) {
    const files = inChinese(runs, { ...READING, said, names: of(runs) }, '')
    expect([...files.keys()]).toContain('maps.svg')
    for (const [name, text] of files)
      if (name !== 'curves.csv') expect([name, englishOf(text)]).toEqual([name, null])
  }
})
