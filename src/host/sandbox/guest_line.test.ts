// Lines of a guest: those that it may say, and everything else.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readLine } from './guest_line.ts'

test.for([
  ['{"ready":true}', { ready: true }],
  ['{"ready":false,"error":"no"}', { ready: false, error: 'no' }],
  ['{"index":3,"value":{"score":1}}', { index: 3, value: { score: 1 } }],
  [
    '{"index":0,"error":"no","printed":"x"}',
    { index: 0, error: 'no', is_fatal: false, printed: 'x' },
  ],
  ['{"index":0,"error":"no","is_fatal":true}', { index: 0, error: 'no', is_fatal: true }],
  ['{"index":0}', { index: 0, value: null }],
] as const)('%s is a line', ([text, line]) => {
  expect(readLine(text)).toEqual(line)
})

test.for([
  '',
  'null',
  '[]',
  '5',
  '{}',
  '{"ready":false}',
  '{"ready":1}',
  '{"ready":false,"error":{"toString":5}}',
  '{"index":0,"error":{"toString":5}}',
  '{"index":0,"error":null}',
  '{"index":"0","value":1}',
  '{"index":0.5,"value":1}',
  '{"index":1e999,"value":1}',
  '{"index":0,"value":1,"printed":{"length":5}}',
  '{"index":0,"error":"no","is_fatal":"yes"}',
  '{"__proto__":{"index":0},"value":1}',
  `{"index":0,"value":${'['.repeat(9)}${']'.repeat(9)}}`,
  `{"index":0,"value":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
])('%s is none', (text) => {
  expect(readLine(text)).toBeUndefined()
})

test('what is printed keeps its end, and an error its beginning', () => {
  const long = 'x'.repeat(5000)
  expect(readLine(JSON.stringify({ index: 0, error: `a${long}`, printed: `${long}z` }))).toEqual({
    index: 0,
    is_fatal: false,
    error: `a${long.slice(0, 1999)}`,
    printed: `${long.slice(0, 999)}z`,
  })
})

test('any JSON, and any text, is a line of the right types or none', () => {
  const field = fc.oneof(
    fc.constantFrom(true, false, null, 0, 1, -1, 1e300, '', 'x'),
    fc.jsonValue(),
  )
  const names = ['ready', 'index', 'value', 'error', 'is_fatal', 'printed', '__proto__', 'toJSON']
  const named = fc.dictionary(fc.constantFrom(...names), field).map((one) => JSON.stringify(one))
  fc.assert(
    fc.property(fc.oneof(named, fc.json(), fc.string()), (text) => {
      const line = readLine(text)
      if (line === undefined) return
      if ('ready' in line) expect(line.ready || typeof line.error === 'string').toBe(true)
      else {
        expect(Number.isSafeInteger(line.index)).toBe(true)
        expect(['string', 'undefined']).toContain(typeof line.printed)
        if ('error' in line)
          expect([typeof line.error, typeof line.is_fatal]).toEqual(['string', 'boolean'])
        else expect(JSON.stringify(line.value)).toBeTypeOf('string')
      }
    }),
    { numRuns: Number(process.env.HOSTILE_RUNS ?? 2000) },
  )
})
