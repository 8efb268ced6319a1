// The slider beside a number says what the number says.
import { expect, test } from 'vitest'
import { shownNumber } from './Control.tsx'
import type { FieldData } from './form.ts'

test('a slider stands where its number does, also at one that is refused', () => {
  const field = { value: 128 } as FieldData
  expect(shownNumber(field, undefined)).toBe(128)
  expect(shownNumber(field, '2')).toBe(2)
  // What is no number has no place.
  expect(shownNumber(field, '')).toBe(128)
  expect(shownNumber(field, '1e')).toBe(128)
  expect(shownNumber({ value: null } as FieldData, undefined)).toBeNull()
})
