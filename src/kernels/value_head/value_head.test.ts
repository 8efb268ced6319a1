import { expect, test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { valueHeadBackwardRef, valueHeadForwardRef } from './value_head.ref.ts'

test('a value is the state before its token times the weight, plus the bias', () => {
  const s = { rows: 2, width: 3, first_column: 1, response_length: 2, hidden_size: 2 }
  // Column 0 of each row of the batch predicts no response token.
  const hidden = [9, 9, 1, 2, 3, 4, 9, 9, 5, 6, 7, 8]
  const values = valueHeadForwardRef(s, hidden, [10, -1], 0.5, [1, 1, 0, 1])
  expect([...values]).toEqual([8.5, 26.5, 0, 62.5])
})

test('the backward is the gradient of the forward', () => {
  const s = { rows: 2, width: 5, first_column: 1, response_length: 3, hidden_size: 4 }
  const [hidden, weight] = [randomValues(40, 1), randomValues(4, 2)]
  const response_mask = [1, 1, 0, 1, 1, 1]
  const d_values = randomValues(6, 3).map((x, i) => x * response_mask[i])
  const loss = (h: ArrayLike<number>, w: ArrayLike<number>, b: number) =>
    weightedSum(valueHeadForwardRef(s, h, w, b, response_mask), d_values)
  const { d_hidden, d_weight, d_bias } = valueHeadBackwardRef(s, hidden, weight, d_values)
  expectClose(
    d_hidden,
    numericGradient((h) => loss(h, weight, 0.3), hidden),
    { atol: 1e-9 },
  )
  expectClose(
    d_weight,
    numericGradient((w) => loss(hidden, w, 0.3), weight),
    { atol: 1e-9 },
  )
  expectClose(
    [d_bias],
    numericGradient(([b]) => loss(hidden, weight, b), [0.3]),
    { atol: 1e-9 },
  )
})
