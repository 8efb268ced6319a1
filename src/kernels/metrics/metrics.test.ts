import { expect, test } from 'vitest'

import { maskedSumRef } from './metrics.ref.ts'

test('sums each set over what the mask keeps', () => {
  const values = [1, 2, 3, 10, 20, Number.NaN]
  expect([...maskedSumRef(values, [1, 0.5, 0], 3, 2)]).toEqual([2, 20])
})
