import { expect, test } from 'vitest'
import { distinctColors } from './looks.ts'
import { RUN_COLORS } from './record.ts'

test('runs of one colour are shown in several, and who was first keeps it', () => {
  expect(distinctColors([3, 0, 3, 1])).toEqual([3, 0, 2, 1])
  expect(distinctColors([0, 1, 2])).toEqual([0, 1, 2])
})

test('as many runs as there are colours are all different', () => {
  const same = Array.from(RUN_COLORS, () => 5)
  expect(new Set(distinctColors(same)).size).toBe(RUN_COLORS.length)
})
