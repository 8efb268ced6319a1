import { expect, test } from 'vitest'
import { tokenLevelScores } from '../../config/overlong.ts'
import type { RolloutBatch } from '../../experience/batch.ts'
import { dealtScores } from './dealt_scores.ts'

const R = 3
const response_lengths = [1, 2, 3, 1, 2, 3, 1, 2]
const scores = [1, 2, 3, 4, 10, 20, 30, 40]
const index = [0, 0, 0, 0, 1, 1, 1, 1]
const drawn = {
  token_level_scores: tokenLevelScores(scores, response_lengths, R),
  index,
  batch: { response_length: R, response_lengths } as unknown as RolloutBatch,
}
const dealt = (seed: number, step: number) =>
  index.map((_, b) => dealtScores(drawn, seed, step)[b * R + response_lengths[b] - 1])

test('each prompt keeps its scores, at the last tokens of other responses', () => {
  const found = dealt(7, 1)
  expect(found).not.toEqual(scores)
  expect(found.slice(0, 4).sort((a, b) => a - b)).toEqual([1, 2, 3, 4])
  expect(found.slice(4).sort((a, b) => a - b)).toEqual([10, 20, 30, 40])
  const sum = (of: ArrayLike<number>) => Array.from(of).reduce((a, b) => a + b, 0)
  expect(sum(dealtScores(drawn, 7, 1))).toBe(sum(scores))
})

test('a step repeats its draw, and others have others', () => {
  expect(dealt(7, 1)).toEqual(dealt(7, 1))
  const draws = Array.from({ length: 200 }, (_, step) => dealt(7, step))
  expect(new Set(draws.map(String)).size).toBeGreaterThan(100)
  // Every response gets every score of its prompt equally often: 50 times, give or take 4 sd.
  for (const score of [1, 2, 3, 4]) {
    const often = draws.filter(([first]) => first === score).length
    expect(Math.abs(often - 50)).toBeLessThan(25)
  }
})
