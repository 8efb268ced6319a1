// One unit for the values of a study's measure and one for its differences, wherever they are
// written.
import { expect, test } from 'vitest'
import { analyse } from '../analysis.ts'
import { plannedRuns } from '../queue.ts'
import { armsOf, madeUpResult, studyOf } from '../testing.ts'
import { studyFiles } from './files.ts'
import { measureWords } from './measure_words.ts'
import { unitsOf } from './units.ts'

test('a share is in per cent and a difference of shares in points, all else as it was measured', () => {
  const share = unitsOf('val-core/a/acc/mean@4')
  expect(share.valueText(0.632)).toBe('63.2 %')
  expect(share.bareDifference(-0.0066)).toBe('−0.7')
  expect([share.tick(0.25), share.tick(-0.05)]).toEqual(['25', '−5'])
  expect(share.valueText(Number.NaN)).toBe('–')
  // What is not 0 is not written as 0.
  expect(share.bareDifference(-0.000057)).toBe('−0.006')
  const nats = unitsOf('actor/entropy')
  expect([nats.valueText(1.234), nats.bareDifference(-0.5)]).toEqual(['1.23', '−0.5'])
  expect([nats.value, nats.difference]).toEqual(['', ''])
})

test('a report of an accuracy has no share of 1 in its table, its sentences and its pictures', () => {
  const study = studyOf()
  const arms = armsOf()
  const results = plannedRuns(study, arms).map((run) =>
    madeUpResult(study, run, run.arm.name === arms[0].name ? 0.4125 : 0.5375 + run.seed / 1000),
  )
  const analysis = analyse(study, arms, results)
  const files = studyFiles(study, analysis)
  const report = files.get('report.md') ?? ''
  const [table] = /\| arm \|[\s\S]+?\n\n/.exec(report) ?? ['']
  expect(table).toContain('mean ± sd, %')
  expect(table).toContain('difference [95 %], points')
  expect(table).toMatch(/gain, points .*\n.*\n\| slow .* \| [+−][\d.]+ \|/)
  expect(table).toContain('41.3 ± 0.0')
  expect(report).toMatch(/\(\+1[23]\.\d \[\+1[23]\.\d, \+1[23]\.\d\] points, /)
  expect(report).not.toContain(analysis.metric)
  expect(files.get('forest.svg')).toContain('difference from')
  expect(files.get('forest.svg')).toMatch(/points<\/title>/)
  expect(files.get('forest.svg')).not.toMatch(/>0\.\d/)
})

test('a measure has a name that a person would give', () => {
  expect(measureWords('val-core/sort_digits/acc/mean@4')).toBe('held-out accuracy (4 samples)')
  expect(measureWords('val-aux/a/acc/greedy')).toBe('held-out accuracy (greedy)')
  expect(measureWords('acc/greedy')).toBe('held-out accuracy (greedy)')
  expect(measureWords('val-aux/a/pass@16/mean')).toBe('held-out pass@16')
  expect(measureWords('val-aux/story/reward/mean@1')).toBe('held-out reward (one sample)')
  expect(measureWords('actor/ppo_kl')).toBe('actor/ppo_kl')
})
