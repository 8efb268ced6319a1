// What is said above runs side by side.
import { expect, test } from 'vitest'
import { extendSummary } from '../../../record/run/summary.ts'
import { REWARD } from '../../shown/metrics.ts'
import { entryOf } from '../table/testing.ts'
import { compareSays } from './says.ts'

/** √((0.664 · 0.336 + 0.945 · 0.055) / 128) */
const CHANCE = ' With 128 problems, the standard error of this difference is at most 4.6 points.'

type Entry = ReturnType<typeof entryOf>
const group = (label: string, ...entries: Entry[]) => ({ label, entries, again: [] })
const longer = (entry: Entry, step: number) => ({ ...entry, header: { ...entry.header, step } })

test('the highest and the lowest are named, with how many steps they took', () => {
  const [a, b] = [entryOf('a', { greedy: 0.664 }), entryOf('b', { greedy: 0.945 })]
  expect(compareSays([group('A', a), group('B', b)])).toBe(
    `“B” ends 28.1 points above “A” in held-out accuracy, greedy: 94.5\u00a0% and 66.4\u00a0%.${CHANCE} One run each.`,
  )
  expect(compareSays([group('A', a), group('B', longer(b, 45))])).toContain(
    'They took 10 to 45 steps: in the panels, compare them where all have come.',
  )
})

test('what chance brings apart is no clear difference', () => {
  const [a, b] = [entryOf('a', { greedy: 0.938 }), entryOf('b', { greedy: 0.945 })]
  expect(compareSays([group('A', a), group('B', b)])).toBe(
    'No clear difference in held-out accuracy, greedy: “B” and “A” end at 94.5\u00a0% and 93.8\u00a0%. With 128 problems, the standard error of this difference is at most 2.9 points. One run each.',
  )
})

test('a score that says the opposite is named too', () => {
  const scored = (entry: Entry, score: number): Entry => {
    const summaries = { ...entry.header.summaries, [REWARD]: extendSummary(undefined, [score]) }
    return { ...entry, header: { ...entry.header, summaries } }
  }
  const said = (low: number, high: number) =>
    compareSays([
      group('A', scored(entryOf('a', { greedy: 0.6 }), low)),
      group('B', scored(entryOf('b', { greedy: 0.9 }), high)),
    ])
  expect(said(0.55, 0.35)).toContain(
    'But it ends 20.0 points below in reward or task score, sampled.',
  )
  expect(said(0.35, 0.55)).not.toContain('But')
})

test('several runs of a line count by their mean, and what has no number is not said', () => {
  const seeds = [entryOf('a', { greedy: 0.6 }), entryOf('b', { greedy: 0.8, seed: 2 })]
  const one = entryOf('c', { greedy: 0.7 })
  expect(compareSays([group('A', ...seeds), group('C', one)])).toBe(
    'All end alike in held-out accuracy, greedy: 70.0\u00a0%.',
  )
  expect(compareSays([group('A', ...seeds), group('D', entryOf('d', {}))])).toBeUndefined()
  expect(compareSays([group('A', ...seeds)])).toBeUndefined()
})
