// What is said above runs side by side.
import { expect, test } from 'vitest'
import { Series } from '../../../host/columns/series.ts'
import { extendSummary } from '../../../record/run/summary.ts'
import { greedyAccuracy, REWARD, sampledAccuracy } from '../../shown/metrics.ts'
import type { Compared } from '../base/compared.ts'
import { entryOf } from '../table/testing.ts'
import { compareSays } from './says.ts'

/** √((0.664 · 0.336 + 0.945 · 0.055) / 128) */
const CHANCE = ' With 128 problems, the standard error of this difference is at most 4.6 points.'

const FEW = ' Fewer than 3 seeds each are too few to say which is better.'

type Entry = ReturnType<typeof entryOf>
/** The verdict, and what is behind it. */
const whole = (groups: readonly Compared[]) => {
  const said = compareSays(groups)
  return said && `${said.says} ${said.more}`.trim()
}
const group = (label: string, ...entries: Entry[]) => ({ label, entries, again: [] })
const longer = (entry: Entry, step: number) => ({ ...entry, header: { ...entry.header, step } })

const imported = (id: string, kind: string, values: Record<string, number>): Entry => {
  const entry = entryOf(id, {})
  const summaries = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, extendSummary(undefined, [value])]),
  )
  const source = { kind, file: `${id}.json`, remarks: [] }
  return { ...entry, header: { ...entry.header, source, summaries } }
}

test('the highest and the lowest are named, with how many steps they took', () => {
  const [a, b] = [entryOf('a', { greedy: 0.664 }), entryOf('b', { greedy: 0.945 })]
  expect(whole([group('A', a), group('B', b)])).toBe(
    `“B” ends 28.1 points above “A” in held-out accuracy, greedy; too few seeds to say more. “B” and “A” end at 94.5\u00a0% and 66.4\u00a0%.${CHANCE}${FEW} One run each.`,
  )
  expect(whole([group('A', a), group('B', longer(b, 45))])).toContain(
    'They took 10 to 45 steps; with all of them they end so: “A” at 66.4\u00a0%, “B” at 94.5\u00a0%.',
  )
})

test('a verdict is one short sentence, and its numbers are behind it', () => {
  const said = compareSays([
    group('lr 0.001', entryOf('a', { greedy: 0.664 })),
    group('lr 0.01', longer(entryOf('b', { greedy: 0.945 }), 45)),
  ])
  expect(said?.says).toMatch(/^“lr 0\.01” ends 28\.1 points above “lr 0\.001”[^.]*\.$/)
  expect(said?.says.length).toBeLessThan(110)
  for (const part of ['94.5', 'standard error', 'They took 10 to 45 steps', 'One run each.'])
    expect(said?.more).toContain(part)
})

test('a run that took more steps is compared where the shorter one ended', () => {
  const [a, b] = [entryOf('a', { greedy: 0.664 }), longer(entryOf('b', { greedy: 0.945 }), 45)]
  const metric = greedyAccuracy(a.header.experiment.task.id)
  const columns = new Map([
    [
      metric,
      Series.of(Float64Array.of(0, 5, 10, 20, 45), Float64Array.of(0, 0.1, 0.5, 0.8, 0.945)),
    ],
  ])
  const groups = [group('A', a), group('B', b)]
  const said = compareSays(groups, (id) => (id === 'b' ? columns : undefined))
  expect(said?.says).toMatch(/^Over the first 10 steps: “A” ends 16\.4 points above “B” in/)
  expect(said?.more).toContain(
    'They took 10 to 45 steps; with all of them they end so: “A” at 66.4\u00a0%, “B” at 94.5\u00a0%.',
  )
  // While its columns are read nothing is said of a step that they do not tell.
  expect(compareSays(groups)?.says).toMatch(/^“B” ends 28\.1 points above “A”/)
})

test('runs without the number do not shorten the others, and are named', () => {
  const acc = (id: string, value: number, step: number) =>
    longer(imported(id, 'verl', { 'val-core/gsm8k/acc/mean@1': value }), step)
  const without = longer(imported('none', 'trl', { [REWARD]: 1 }), 3)
  const said = compareSays([
    group('A', acc('A', 0.5, 10)),
    group('B', acc('B', 0.7, 10)),
    group('C', without),
  ])
  expect(said?.says).toMatch(/^“B” ends 20\.0 points above “A”/)
  expect(said?.more).toContain('Without such a number: “C”.')
})

test('what chance brings apart is no clear difference', () => {
  const [a, b] = [entryOf('a', { greedy: 0.938 }), entryOf('b', { greedy: 0.945 })]
  expect(whole([group('A', a), group('B', b)])).toBe(
    'No clear difference in held-out accuracy, greedy. “B” and “A” end at 94.5\u00a0% and 93.8\u00a0%. With 128 problems, the standard error of this difference is at most 2.9 points. One run each.',
  )
})

const scored = (entry: Entry, score: number): Entry => {
  const summaries = { ...entry.header.summaries, [REWARD]: extendSummary(undefined, [score]) }
  return { ...entry, header: { ...entry.header, summaries } }
}
/** A run of each seed, with its accuracy and its reward. */
const seeds = (id: string, ends: readonly (readonly [greedy: number, score: number])[]) =>
  ends.map(([greedy, score], i) => scored(entryOf(`${id}${i}`, { greedy, seed: i + 1 }), score))

test('where sampled answers have another order than greedy ones, that is said too', () => {
  const sampledOf = (entry: Entry, value: number): Entry => {
    const { task, validation } = entry.header.experiment
    const metric = sampledAccuracy(task.id, validation.n)
    const summaries = { ...entry.header.summaries, [metric]: extendSummary(undefined, [value]) }
    return { ...entry, header: { ...entry.header, summaries } }
  }
  const of = (greedy: number, sampled: number) => sampledOf(entryOf('x', { greedy }), sampled)
  const said = (...sampled: readonly number[]) =>
    whole([
      group('A', of(0.93, sampled[0])),
      group('B', of(0.945, sampled[1])),
      group('C', of(0.828, sampled[2])),
    ])
  expect(said(0.477, 0.727, 0.742)).toContain(
    ' In held-out accuracy, sampled, “C” is highest and “A” lowest: 74.2\u00a0% and 47.7\u00a0%.',
  )
  expect(said(0.6, 0.7, 0.5)).not.toContain('sampled')
})

test('a score that clearly says the opposite is named too', () => {
  const a = seeds(
    'a',
    [0.5, 0.51, 0.52].map((score, i) => [0.6 + i / 100, score]),
  )
  const said = (scores: readonly number[]) =>
    whole([
      group('A', ...a),
      group(
        'B',
        ...seeds(
          'b',
          scores.map((s, i) => [0.9 + i / 50, s]),
        ),
      ),
    ])
  expect(said([0.3, 0.31, 0.33])).toBe(
    '“B” ends 31.0 points above “A” in held-out accuracy, greedy. But it ends 19.7 points below in reward or task score, sampled. “B” and “A” end at 92.0\u00a0% and 61.0\u00a0%.',
  )
  // Lower by 4 points with two seeds, and higher with one.
  expect(said([0.4, 0.41, 0.6])).not.toContain('But')
})

test('what the seeds scatter by is no clear difference, paired or not', () => {
  const a = seeds(
    'a',
    [0.5, 0.7, 0.6].map((greedy) => [greedy, 0.5]),
  )
  const b = seeds(
    'b',
    [0.7, 0.5, 0.63].map((greedy) => [greedy, 0.5]),
  )
  const none = /^No clear difference in held-out accuracy, greedy. “B” and “A”/
  expect(whole([group('A', ...a), group('B', ...b)])).toMatch(none)
  const others = [0.7, 0.5, 0.63].map((greedy, i) => entryOf(`o${i}`, { greedy, seed: 7 + i }))
  expect(whole([group('A', ...a), group('B', ...others)])).toMatch(none)
  const high = [0.95, 0.96, 0.97].map((greedy, i) => entryOf(`h${i}`, { greedy, seed: 7 + i }))
  expect(whole([group('A', ...a), group('B', ...high)])).toContain('“B” ends 36.0 points above')
})

test('two seeds say which ended higher, and not that it is better', () => {
  const a = seeds('a', [
    [0.6, 0.5],
    [0.62, 0.4],
  ])
  const b = seeds('b', [
    [0.9, 0.45],
    [0.92, 0.3],
  ])
  expect(whole([group('A', ...a), group('B', ...b)])).toBe(
    `“B” ends 30.0 points above “A” in held-out accuracy, greedy; too few seeds to say more. “B” and “A” end at 91.0\u00a0% and 61.0\u00a0%.${FEW}`,
  )
})

test('where seeds are paired, the verdict has the difference that the table has', () => {
  const a = seeds(
    'a',
    [0.8, 0.82, 0.9].map((greedy) => [greedy, 0.5]),
  )
  const b = seeds(
    'b',
    [0.6, 0.64].map((greedy) => [greedy, 0.5]),
  )
  // The means are 22 points apart, and the two seeds that both have 19.
  const said = compareSays([group('A', ...a), group('B', ...b)])
  expect(said?.says).toBe(
    '“A” ends 19.0 points above “B” in held-out accuracy, greedy, paired by the 2 seeds that both have; too few seeds to say more.',
  )
  expect(said?.more).toContain(
    'end at 84.0\u00a0% and 62.0\u00a0%. These are means of 3 and 2 runs; only the 2 seeds that both have can be paired.',
  )
  const high = entryOf('h', { greedy: 0.99, seed: 9 })
  const [one, two] = [entryOf('o', { greedy: 0.6 }), entryOf('t', { greedy: 0.5 })]
  expect(compareSays([group('A', one), group('B', two, high)])?.says).toBe(
    '“A” ends 10.0 points above “B” in held-out accuracy, greedy, paired by the seed that both have; too few seeds to say more.',
  )
})

test('several runs of a line count by their mean, and what has no number is not said', () => {
  const both = [entryOf('a', { greedy: 0.6 }), entryOf('b', { greedy: 0.8, seed: 2 })]
  const one = entryOf('c', { greedy: 0.7 })
  expect(whole([group('A', ...both), group('C', one)])).toBe(
    'They end alike in held-out accuracy, greedy: 70.0\u00a0%.',
  )
  expect(whole([group('A', ...both), group('D', entryOf('d', {}))])).toBeUndefined()
  expect(whole([group('A', ...both)])).toBeUndefined()
})

const as = (entry: Entry, header: Partial<Entry['header']>): Entry => ({
  ...entry,
  header: { ...entry.header, ...header },
})

test('a run that is not over enters no verdict, and is named', () => {
  const [a, b] = [entryOf('a', { greedy: 0.664 }), entryOf('b', { greedy: 0.945 })]
  const half = entryOf('half', { greedy: 0.2, seed: 2 })
  const said = (header: Partial<Entry['header']>) =>
    compareSays([group('A', a), group('B', b), group('half', as(half, { step: 2, ...header }))])
  const verdict = compareSays([group('A', a), group('B', b)])
  expect(said({ status: 'running' })).toEqual({
    says: `${verdict?.says} “half” still trains and is left out.`,
    more: verdict?.more,
  })
  expect(said({ status: 'paused' })?.says).toContain('“half” is paused and is left out.')
  expect(said({ status: 'stopped' })?.says).toContain('“half” ended before its last step')
  const running = as(b, { status: 'running' })
  expect(compareSays([group('A', a), group('B', running)])).toEqual({
    says: '“b” still trains and is left out.',
    more: '',
  })
})

test('of runs of two tasks there is no verdict', () => {
  const [a, b] = [entryOf('a', { greedy: 0.6 }), entryOf('b', { greedy: 0.9 })]
  const task = { ...b.header.document.task, id: 'brackets' } as typeof b.header.document.task
  const other = as(b, { document: { ...b.header.document, task } })
  expect(compareSays([group('A', a), group('B', other)])).toEqual({
    says: 'They learn different tasks; their scores are not comparable.',
    more: '',
  })
})

test('runs of logs whose scores need not be the same are not ranked', () => {
  const said = (...entries: Entry[]) =>
    compareSays(entries.map((entry) => group(entry.id, entry)))?.says
  const sum = imported('sum', 'trl', { 'val-core/eval/reward/mean@1': 2.3, [REWARD]: 2.4 })
  const model = imported('model', 'verl', { 'val-core/gsm8k/reward/mean@1': 0.5, [REWARD]: -1 })
  expect(said(sum, model)).toMatch(/^Not ranked: /)
  // One name is not one measure.
  const other = imported('other', 'trl', { 'val-core/eval/reward/mean@1': 0.5, [REWARD]: 1 })
  expect(said(sum, other)).toMatch(/^Not ranked: /)
  // Neither is that of a run of the lab.
  expect(said(imported('log', 'trl', { [REWARD]: 2 }), scored(entryOf('a', {}), 0.5))).toMatch(
    /^Not ranked: /,
  )
})

test('answers of one set of problems, and the runs of one table, are ranked, by one name', () => {
  const said = (...entries: Entry[]) =>
    compareSays(entries.map((entry) => group(entry.id, entry)))?.says
  const acc = (id: string, value: number) =>
    imported(id, 'verl', { 'val-core/gsm8k/acc/mean@1': value })
  expect(said(acc('A', 0.5), acc('B', 0.7))).toContain(
    '“B” ends 20.0 points above “A” in held-out accuracy, gsm8k',
  )
  const row = (id: string, value: number) => {
    const entry = imported(id, 'wandb', { [REWARD]: value })
    const source = { kind: 'wandb', file: 'export.csv', remarks: [] }
    return { ...entry, header: { ...entry.header, source } }
  }
  expect(said(row('A', 1.5), row('B', 2.5))).toContain('“B” ends 1 above “A” in reward')
})
