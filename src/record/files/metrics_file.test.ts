import { expect, test } from 'vitest'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import { metricsFileName, runFileStem } from './file_names.ts'
import { metricsCsv, metricsJsonl } from './metrics_file.ts'

/** Three steps, of which the first is validation alone and the last has a number that is not
 * finite. */
function run(): Map<string, Series> {
  const series = new Map<string, Series>()
  appendMetrics(series, 0, { 'val-core/sort_digits/acc/mean@1': 0.25 })
  appendMetrics(series, 1, { 'actor/pg_loss': -0.5, 'critic/score/mean': 1e-7 })
  appendMetrics(series, 2, {
    'critic/score/mean': 0.1 + 0.2,
    'val-core/sort_digits/acc/mean@1': 0.5,
    'actor/pg_loss': Number.NaN,
  })
  return series
}

test('JSON lines hold each step’s own metrics, to the last bit', () => {
  const lines = metricsJsonl(run()).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { step: 0, data: { 'val-core/sort_digits/acc/mean@1': 0.25 } },
    { step: 1, data: { 'actor/pg_loss': -0.5, 'critic/score/mean': 1e-7 } },
    {
      step: 2,
      data: {
        'val-core/sort_digits/acc/mean@1': 0.5,
        'actor/pg_loss': null,
        'critic/score/mean': 0.1 + 0.2,
      },
    },
  ])
})

test('the table has a column per metric, and empty cells where a step has none', () => {
  expect(metricsCsv(run())).toBe(
    'step,val-core/sort_digits/acc/mean@1,actor/pg_loss,critic/score/mean\n' +
      '0,0.25,,\n' +
      '1,,-0.5,1e-7\n' +
      '2,0.5,NaN,0.30000000000000004\n',
  )
})

test('steps stand in order, whichever metric came first', () => {
  const series = new Map<string, Series>()
  appendMetrics(series, 2, { late: 2 })
  const early = new Map<string, Series>()
  appendMetrics(early, 1, { early: 1 })
  const both = new Map([...series, ...early])
  expect(metricsCsv(both)).toBe('step,late,early\n1,,1\n2,2,\n')
  expect(metricsJsonl(both)).toBe('{"step":1,"data":{"early":1}}\n{"step":2,"data":{"late":2}}\n')
})

test('a name with a comma or a quote is one cell', () => {
  const series = new Map<string, Series>()
  appendMetrics(series, 1, { 'a,"b"': 3 })
  expect(metricsCsv(series)).toBe('step,"a,""b"""\n1,3\n')
})

test('a metric whose name a spreadsheet would compute is a text, and numbers keep their sign', () => {
  const series = new Map<string, Series>()
  appendMetrics(series, 1, { '=cmd()': -0.5 })
  expect(metricsCsv(series)).toBe("step,'=cmd()\n1,-0.5\n")
})

test('no steps, no lines', () => {
  expect(metricsJsonl(new Map())).toBe('')
  expect(metricsCsv(new Map())).toBe('')
})

test('files are named after the run, in letters that every file system takes', () => {
  const file = (name: string) => metricsFileName(runFileStem({ name, seed: 7 }), 'csv')
  expect(file('Tiny: sort three digits')).toBe('tiny-sort-three-digits-seed-7.metrics.csv')
  expect(file('../../etc/pass wd\\\u202e')).toBe('etc-pass-wd-seed-7.metrics.csv')
  expect(file('É la carte')).toBe('e-la-carte-seed-7.metrics.csv')
  expect(file('')).toBe('run-seed-7.metrics.csv')
  expect(file('学習')).toBe('run-seed-7.metrics.csv')
  expect(file('x'.repeat(200)).length).toBeLessThan(90)
  // No word and no number is cut.
  const long = 'BuPO (REINFORCE++), layer 2 first, phase 1: 8 steps, rate'
  const stem = 'bupo-reinforce-layer-2-first-phase-1-8-steps-rate'
  expect(file(`${long} of learning 0.006`)).toBe(`${stem}-of-seed-7.metrics.csv`)
  expect(file(`${long} is 0.000625`)).toBe(`${stem}-is-seed-7.metrics.csv`)
  expect(metricsFileName('a-seed-1', 'jsonl')).toBe('a-seed-1.metrics.jsonl')
  expect(metricsFileName('a-seed-1', 'csv', true)).toBe('a-seed-1.metrics.thinned.csv')
})
