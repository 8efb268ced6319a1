import { expect, test } from 'vitest'
import { stateFor } from './use_measuring.ts'

test('a response is read with the last kept state up to the shown step, else with the last of all', () => {
  expect(stateFor([40, 20, 10], undefined)).toBe(40)
  expect(stateFor([40, 20, 10], 25)).toBe(20)
  expect(stateFor([40, 20, 10], 5)).toBe(40)
  expect(stateFor([], 5)).toBeUndefined()
})
