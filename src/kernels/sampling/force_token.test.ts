// The reference against a case worked out by hand.
import { expect, test } from 'vitest'
import { forceTokenRef } from './force_token.ref.ts'

test('a forced token takes the place of what was sampled, and 0 leaves a row alone', () => {
  const sampled = {
    ended: [1, 1],
    response_ids: [5, 6, 7, 8],
    rollout_log_probs: [-1, -2, -3, -4],
    rollout_entropy: [1, 2, 3, 4],
    next_ids: [6, 8],
    attention_mask: [1, 1, 0, 1, 1, 0],
  }
  const at = { response_length: 2, position: 1, width: 3, column: 2 }
  expect(forceTokenRef([9, 4, 9, 0], sampled, at)).toEqual({
    ended: [0, 1],
    response_ids: [5, 3, 7, 8],
    rollout_log_probs: [-1, 0, -3, -4],
    rollout_entropy: [1, 0, 3, 4],
    next_ids: [3, 8],
    attention_mask: [1, 1, 1, 1, 1, 0],
  })
})
