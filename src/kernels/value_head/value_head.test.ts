import { expect, test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { listScored } from '../vocab_head/scored.ts'
import { valueHeadBackwardRef, valueHeadForwardRef } from './value_head.ref.ts'

const listOf = (size: Parameters<typeof listScored>[0], mask: readonly number[]) => ({
  tokens: mask.length,
  scored: listScored(size, new Uint32Array(mask.length), mask),
})

test('a value is the state before its token times the weight, plus the bias', () => {
  // Column 0 of each row of the batch predicts no response token.
  const list = listOf({ rows: 2, width: 3, first_column: 1, response_length: 2 }, [1, 1, 0, 1])
  const hidden = [9, 9, 1, 2, 3, 4, 9, 9, 5, 6, 7, 8]
  expect([...valueHeadForwardRef(hidden, [10, -1], 0.5, list)]).toEqual([8.5, 26.5, 0, 62.5])
})

test('the backward is the gradient of the forward', () => {
  const responseMask = [1, 1, 0, 1, 1, 1]
  const list = listOf({ rows: 2, width: 5, first_column: 1, response_length: 3 }, responseMask)
  const [hidden, weight] = [randomValues(40, 1), randomValues(4, 2)]
  const d_values = randomValues(6, 3)
  const loss = (h: ArrayLike<number>, w: ArrayLike<number>, b: number) =>
    weightedSum(valueHeadForwardRef(h, w, b, list), d_values)
  const { d_hidden, d_weight, d_bias } = valueHeadBackwardRef(hidden, weight, list, d_values)
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
