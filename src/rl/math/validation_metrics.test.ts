import { expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import {
  bootstrapIndices,
  bootstrapSizes,
  nameValidationMetrics,
  passAtK,
  passMetrics,
  processValidationMetrics,
} from './validation_metrics.ts'

const repeat = <T>(value: T, count: number) => new Array<T>(count).fill(value)

/** One prompt of data source `d`, with one response per value. */
const onePrompt = (variables: Record<string, readonly number[] | readonly string[]>) => {
  const count = Object.values(variables)[0].length
  return { data_sources: repeat('d', count), sample_uids: repeat('u', count), variables }
}

test('n doubles up to the number of responses, which is always there', () => {
  expect([1, 2, 3, 4, 6, 8].map(bootstrapSizes)).toEqual([
    [],
    [2],
    [2, 3],
    [2, 4],
    [2, 4, 6],
    [2, 4, 8],
  ])
})

test('a bootstrap draws the rows that numpy draws', () => {
  // numpy.random.seed(42); numpy.random.choice(4, 2) three times
  const indices = bootstrapIndices(4, 2)
  expect([...indices.subarray(0, 6)]).toEqual([2, 3, 0, 2, 2, 3])
  expect(indices.length).toBe(2000)
})

test('mean, population std, best, worst and majority of one prompt, by hand', () => {
  // The first three bootstrap rows of four responses are [2,3], [0,2], [2,3].
  const samples = onePrompt({ reward: [1, 9, 2, 4], pred: ['a', 'b', 'c', 'c'] })
  const metrics = processValidationMetrics(samples, { n_bootstrap: 3 }).d.reward
  expect(metrics['mean@4']).toBe(4)
  expect(metrics['std@4']).toBe(Math.sqrt((9 + 25 + 4 + 0) / 4))
  // best 4, 2, 4; worst 2, 1, 2
  expectClose(
    ['best@2/mean', 'best@2/std', 'worst@2/mean', 'worst@2/std'].map((name) => metrics[name]),
    [10 / 3, Math.sqrt(8) / 3, 5 / 3, Math.sqrt(2) / 3],
    { rtol: 1e-12, atol: 0 },
  )
  // votes cc, ac, cc: the first c, the first of a tie, the first c
  expectClose([metrics['maj@2/mean']], [(2 + 1 + 2) / 3], { rtol: 1e-12, atol: 0 })
})

test('prompts are averaged within their data source, whatever the order of samples', () => {
  const { a, b } = processValidationMetrics({
    data_sources: ['a', 'b', 'a', 'a', 'b', 'a'],
    sample_uids: ['1', '3', '2', '1', '3', '2'],
    variables: { acc: [1, 0, 0, 0, 1, 0] },
  })
  expect(a.acc['mean@2']).toBe(0.25)
  expect(a.acc['std@2']).toBe(0.25)
  expect(b.acc['mean@2']).toBe(0.5)
  expect(Object.keys(b.acc)).not.toContain('maj@2/mean')
})

test('prompts with different numbers of responses keep their own metrics', () => {
  const { d } = processValidationMetrics({
    data_sources: repeat('d', 3),
    sample_uids: ['1', '1', '2'],
    variables: { acc: [1, 0, 1] },
  })
  expect([d.acc['mean@2'], d.acc['mean@1'], d.acc['std@2']]).toEqual([0.5, 1, 0.5])
})

test('one response has a mean and nothing else; strings have no metrics of their own', () => {
  const metrics = processValidationMetrics(onePrompt({ acc: [1], pred: ['x'] }))
  expect(metrics).toEqual({ d: { acc: { 'mean@1': 1 } } })
})

test('best is never below worst, and best of all grows with n', () => {
  const acc = [0, 1, 0, 0, 0, 0, 1, 0]
  const { d } = processValidationMetrics(onePrompt({ acc }))
  const best = bootstrapSizes(8).map((n) => d.acc[`best@${n}/mean`])
  expect(best).toEqual([...best].sort((x, y) => x - y))
  // P(a success among n of p = 1/4); 1000 draws are within 0.05 of it (three standard errors)
  expectClose(best, [1 - 0.75 ** 2, 1 - 0.75 ** 4, 1 - 0.75 ** 8], { rtol: 0, atol: 0.05 })
  expect(d.acc['worst@8/mean']).toBeLessThanOrEqual(d.acc['best@8/mean'])
})

test('lists of different lengths are refused by name', () => {
  const samples = { ...onePrompt({ acc: [1, 0] }), data_sources: ['d'] }
  expect(() => processValidationMetrics(samples)).toThrow(/sample_uids: expected 1 values.*got 2/)
  const short = { ...onePrompt({ acc: [1, 0] }), variables: { reward: [1] } }
  expect(() => processValidationMetrics(short)).toThrow(/reward: expected 2/)
})

test('core names are mean, maj and best of the largest N of acc, or of reward without acc', () => {
  const values = {
    'mean@16': 1,
    'std@16': 2,
    'best@2/mean': 3,
    'best@16/mean': 4,
    'maj@16/std': 5,
    'worst@16/mean': 6,
  }
  expect(nameValidationMetrics({ d: { acc: values, reward: { 'mean@16': 7 } } })).toEqual({
    'val-core/d/acc/mean@16': 1,
    'val-aux/d/acc/std@16': 2,
    'val-aux/d/acc/best@2/mean': 3,
    'val-core/d/acc/best@16/mean': 4,
    'val-core/d/acc/maj@16/std': 5,
    'val-aux/d/acc/worst@16/mean': 6,
    'val-aux/d/reward/mean@16': 7,
  })
  expect(nameValidationMetrics({ d: { reward: { 'mean@1': 7 } } })).toEqual({
    'val-core/d/reward/mean@1': 7,
  })
})

/** Share of the subsets of k of n responses that hold a right one, counted one by one. */
function countPasses(n: number, c: number, k: number): number {
  let [subsets, passes] = [0, 0]
  for (let set = 0; set < 2 ** n; set++) {
    const members = Array.from({ length: n }, (_, i) => i).filter((i) => (set >> i) & 1)
    if (members.length !== k) continue
    subsets++
    if (members.some((i) => i < c)) passes++
  }
  return passes / subsets
}

test('pass@k is the share of all subsets of k responses that hold a right one', () => {
  for (const n of [1, 2, 5, 8])
    for (let c = 0; c <= n; c++)
      for (let k = 1; k <= n; k++) expect(passAtK(n, c, k)).toBeCloseTo(countPasses(n, c, k), 12)
  // Large numbers of responses have no large factorials in them.
  expect(passAtK(256, 1, 256)).toBe(1)
  expect(passAtK(256, 1, 64)).toBeCloseTo(64 / 256, 12)
  expect(passAtK(256, 0, 256)).toBe(0)
})

test('pass@k is averaged over prompts, and pass@1 is the accuracy', () => {
  const scores = [1, 0, 0, 0, /* none */ 0, 0, 0, 0, /* half */ 1, 0, 1, 0]
  const metrics = passMetrics('d', scores, 4)
  expect(Object.keys(metrics)).toEqual([1, 2, 4].map((k) => `val-aux/d/pass@${k}/mean`))
  expectClose(Object.values(metrics), [3 / 12, (1 / 2 + 0 + 5 / 6) / 3, 2 / 3], { rtol: 1e-12 })
  expect(passMetrics('d', [1, 0], 1)).toEqual({})
})
