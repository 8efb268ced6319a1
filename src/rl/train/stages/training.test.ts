import { expect, test } from 'vitest'
import { isProbeDue, type Training } from './training.ts'

test('the layers are measured in the first step, and then as often as is asked', () => {
  const due = (freq: number | null) =>
    [1, 2, 9, 10, 11, 20].filter((step) =>
      isProbeDue({
        config: { probe: { freq, rows: 8 } },
        progress: { step },
      } as unknown as Training),
    )
  expect(due(10)).toEqual([1, 10, 20])
  expect(due(1)).toHaveLength(6)
  expect(due(null)).toEqual([])
})
