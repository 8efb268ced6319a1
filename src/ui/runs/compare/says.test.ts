// What is said above runs side by side.
import { expect, test } from 'vitest'
import { entryOf } from '../table/testing.ts'
import { compareSays } from './says.ts'

type Entry = ReturnType<typeof entryOf>
const group = (label: string, ...entries: Entry[]) => ({ label, entries, again: [] })
const longer = (entry: Entry, step: number) => ({ ...entry, header: { ...entry.header, step } })

test('the highest and the lowest are named, with how many steps they took', () => {
  const [a, b] = [entryOf('a', { greedy: 0.664 }), entryOf('b', { greedy: 0.945 })]
  expect(compareSays([group('A', a), group('B', b)])).toBe(
    '“B” ends 28.1 points above “A” in held-out accuracy, greedy: 94.5\u00a0% and 66.4\u00a0%. One run each.',
  )
  expect(compareSays([group('A', a), group('B', longer(b, 45))])).toContain(
    'They took 10 to 45 steps: in the panels, compare them where all have come.',
  )
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
