import { expect, test } from 'vitest'
import { type Point, partsOfReward } from './reward_parts.ts'

const rounded = (value: number) => Number(value.toFixed(4))

test('the parts of a reward are read from samples, else from held-out ones', () => {
  const held: Point[] = [
    [0, 0.25],
    [15, 0.5],
    [30, 0.75],
  ]
  const curves: Record<string, readonly Point[]> = {
    'val-aux/story/happy_end/mean@1': held,
    'val-aux/story/coherence/mean@1': held,
    'val-aux/story/reward/mean@1': held,
    'val-aux/story/acc/greedy': held,
    'reward/happy_end/mean': [0.1, 0.3, 0.5, 0.9].map((value, i) => [i + 1, value]),
  }
  const points = (metric: string) => curves[metric] ?? []
  expect(partsOfReward(Object.keys(curves), points, 2, rounded)).toEqual({
    happy_end: { first: 0.2, last: 0.7 },
    coherence: { first: 0.25, last: 0.75 },
  })
  expect(partsOfReward(['val-core/story/acc/mean@1'], points, 2, rounded)).toEqual({})
})
