import { expect, test } from 'vitest'
import { rolloutDType } from './rollout_dtype.ts'

const size = { rows: 4, prompt_length: 3, response_length: 4 }
const plain = {
  size,
  dtype: 'float32',
  half_difference: undefined,
  fallback_reason: undefined,
} as const
const half = (half_difference: number) =>
  ({ ...plain, size: { ...size, dtype: 'float16' }, dtype: 'float16', half_difference }) as const
const fallen = (half_difference: number | undefined, fallback_reason: string) =>
  ({ ...half(0), dtype: 'float32', half_difference, fallback_reason }) as const

test('a run that asks for no halves says nothing of them', () => {
  expect(rolloutDType([])).toBeUndefined()
  expect(rolloutDType([plain, plain])).toBeUndefined()
})

test('of several rollouts the one that fares worst speaks for the run', () => {
  expect(rolloutDType([plain, half(0.0002), half(0.0005)])).toEqual({
    dtype: 'float16',
    difference: 0.0005,
  })
  expect(rolloutDType([half(0.0002), fallen(0.5, 'too far'), plain])).toEqual({
    dtype: 'float32',
    difference: 0.5,
    reason: 'too far',
  })
  // No number, and no comparison at all.
  for (const difference of [Number.POSITIVE_INFINITY, undefined])
    expect(rolloutDType([fallen(difference, 'no')])).toEqual({ dtype: 'float32', reason: 'no' })
})
