import { expect, test } from 'vitest'
import { keyedValue } from './slider.ts'

const few = { kind: 'integer', min: 2, max: 8, step: 1 }
const rate = { kind: 'number', min: 1e-6, max: 1, scale: 'log' } as const
const share = { kind: 'number', min: 0, max: 1, step: 0.01 }

test('an arrow key moves a slider by one step at least, and never past its ends', () => {
  expect(keyedValue(few, 3, 'ArrowRight')).toBe(4)
  expect(keyedValue(few, 3, 'ArrowDown')).toBe(2)
  expect(keyedValue(few, 2, 'ArrowLeft')).toBe(2)
  expect(keyedValue(few, 8, 'PageUp')).toBe(8)
  expect(keyedValue(share, 0.5, 'ArrowUp')).toBe(0.51)
  expect(keyedValue(share, 0.5, 'PageDown')).toBe(0.4)
  const more = keyedValue(rate, 1e-4, 'ArrowRight') ?? 0
  expect(more).toBeGreaterThan(1e-4)
  expect(more).toBeLessThan(1.5e-4)
  expect(keyedValue(few, 3, 'a')).toBeUndefined()
})

test('every value between the ends can be reached by keys', () => {
  const wide = { kind: 'integer', min: 1, max: 1024, scale: 'log' } as const
  let value = 1
  let presses = 0
  while (value < 1024 && presses++ < 400) value = keyedValue(wide, value, 'ArrowRight') ?? value
  expect(value).toBe(1024)
})
