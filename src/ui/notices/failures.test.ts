import { expect, test } from 'vitest'
import { browserAdvice, type FailureCode, failureText } from './failures.ts'

const CODES = [
  'no_webgpu',
  'insecure_origin',
  'no_adapter',
  'too_large',
  'shader',
  'validation',
  'out_of_memory',
  'lost',
  'experiment',
  'checkpoint',
  'worker',
  'internal',
] as const satisfies readonly FailureCode[]

test.for(CODES)('%s has a title, a cause and something to do', (code) => {
  const { title, cause, advice } = failureText(code, 'Chrome/130')
  expect(title.length).toBeGreaterThan(10)
  expect(cause).toMatch(/\.$/)
  expect(advice.length).toBeGreaterThan(0)
})

test('every error has its own title', () => {
  expect(new Set(CODES.map((code) => failureText(code, '').title)).size).toBe(CODES.length)
})

test('advice fits the browser', () => {
  expect(browserAdvice('Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36')).toMatch(
    /chrome:\/\/flags/,
  )
  expect(browserAdvice('Mozilla/5.0 (Windows NT 10.0) Gecko Firefox/130.0')).toMatch(/Firefox/)
  expect(browserAdvice('Mozilla/5.0 (Macintosh) Version/17.0 Safari/605.1')).toMatch(/Safari/)
  expect(browserAdvice('Mozilla/5.0 (Linux; Android 14) Chrome/120.0 Mobile')).toMatch(/Android/)
})
