import { expect, test } from 'vitest'
import { appendRow, type Series } from '../../../host/columns/series.ts'
import { greedyAccuracy } from '../../shown/metrics.ts'
import { FIRST_VIEW } from '../table/table.ts'
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

const RUNS = [
  runOf('a', { seed: 1, greedy: 0.5 }, [0, 0.5], { notes: 'the first', tags: ['paper'] }),
  runOf('b', { seed: 2, greedy: 0.7 }, [0, 0.7]),
  runOf('c', { lr: 0.01 }, [], { name: 'a | b <script>' }),
]

test('a report has the numbers, the means, what differs, curves and a link to every run', () => {
  const files = runReport(RUNS, FIRST_VIEW, 'https://lab.example/')
  expect([...files.keys()]).toEqual(['report.md', 'greedy.svg'])
  const text = files.get('report.md') ?? ''
  expect(text).toContain('# 3 runs')
  expect(text).toMatch(/\| a \| paper \| 1 \| .* \| 50\.0 % \|/)
  // Two seeds of one experiment: their mean, and no mean of the lone run.
  expect(text).toMatch(/\| \S.* \| 2 \| 60\.0 % ± 127\.1 points \|/)
  expect(text).toContain('| actor.optim.lr | 0.001 | 0.001 | 0.01 |')
  expect(text).toContain('![greedy](greedy.svg)')
  expect(text).toContain('the first')
  expect(text.match(/\[Run it again\]\(https:\/\/lab\.example\/\?v=/g)).toHaveLength(3)
  // A name is text: it neither ends a cell nor becomes markup.
  expect(text).toContain('a \\| b \\<script\\>')
  expect(files.get('greedy.svg')).toContain('<svg')
})

test('a run that measured nothing has a report too', () => {
  const files = runReport([RUNS[2]], FIRST_VIEW, '')
  expect([...files.keys()]).toEqual(['report.md'])
  expect(files.get('report.md')).toContain('None of the runs has measured two steps.')
})

test('a report says no setting of a run that was imported', () => {
  const source = { kind: 'verl', file: 'verl.jsonl', remarks: [] }
  const [a, , c] = RUNS
  const imported = { ...a, entry: { ...a.entry, header: { ...a.entry.header, source } } }
  const text = runReport([imported, c], FIRST_VIEW, '').get('report.md') ?? ''
  expect(text).toContain('Of imported runs no setting is known.')
  expect(text).not.toContain('actor.optim.lr |')
})
