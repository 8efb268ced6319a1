import { expect, test } from 'vitest'
import { OPENING } from '../../../document/presets/presets.ts'
import { nearestTaken } from './nearest_taken.ts'

test('a slider of prompts stops where mini-batches divide them', () => {
  const { experiment } = OPENING
  expect(experiment.actor.ppo_mini_batch_size).toBe(32)
  const near = (value: number, by?: number) =>
    nearestTaken(experiment, 'rollout.train_batch_size', value, by)
  expect([near(64), near(70), near(90)]).toEqual([64, 64, 96])
  // A key always moves on in its own direction.
  expect([near(66, 1), near(94, -1)]).toEqual([96, 64])
  // What its own range refuses is left to be said.
  expect(near(5000)).toBe(5000)
  expect(nearestTaken(experiment, 'actor.optim.lr', 0.002)).toBe(0.002)
})
