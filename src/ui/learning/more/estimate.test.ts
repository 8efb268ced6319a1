import { expect, test } from 'vitest'
import { estimateDuration } from './estimate.ts'

test('no run is said to take no time', () => {
  const of = (seconds: number, isMeasured: boolean) => estimateDuration({ seconds, isMeasured })
  expect([of(0.2, true), of(0.2, false)]).toEqual(['1 s', '1 s'])
  expect(of(53, true)).toBe('53 s')
})
