import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import { metricsCsv, metricsJsonl } from '../../record/files/metrics_file.ts'
import { linesOf, tableOfLines } from './line_file.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-lines-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, text = '') => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

test('lines are read whole across pieces, with the byte after each', () => {
  // Characters of two to four bytes fall on the borders of pieces.
  const lines = Array.from({ length: 5000 }, (_, i) => `${'é→🌱'.repeat(i % 90)}${i}`)
  const path = file('long.txt', `${lines.join('\n')}\ncut sho`)
  const read = [...linesOf(path)]
  expect(read.map(({ line }) => line)).toEqual(lines)
  expect(read.at(-1)?.end).toBe(Buffer.byteLength(lines.join('\n')) + 1)
  expect([...linesOf(file('empty.txt'))]).toEqual([])
})

test('the table of a file is the table of its columns', () => {
  const series = new Map<string, Series>()
  appendMetrics(series, 0, { 'val,"x"': 0.5 })
  appendMetrics(series, 1, { loss: Number.NaN })
  appendMetrics(series, 2, { loss: -1e-7, 'val,"x"': 1 })
  const [lines, table] = [
    file('metrics.jsonl', `${metricsJsonl(series)}{"step": 3, "da`),
    file('metrics.csv'),
  ]
  tableOfLines(lines, table)
  expect(readFileSync(table, 'utf8')).toBe(metricsCsv(series))
})
