import { describe, expect, test } from 'vitest'
import { compare, type Result, resultLine, runCheck, summary } from './report.ts'

const close = { rtol: 1e-3, atol: 1e-6 }

describe('compare', () => {
  test('scalars: the largest errors, and ok inside either tolerance', () => {
    expect(compare('loss', 2.001, 2, close)).toMatchObject({ ok: true, where: 'loss' })
    expect(compare('loss', 2.001, 2, close).max_abs).toBeCloseTo(1e-3, 12)
    expect(compare('loss', 2.001, 2, close).maxRel).toBeCloseTo(5e-4, 12)
    expect(compare('loss', 5e-7, 0, close)).toMatchObject({ ok: true, maxRel: 0 })
    expect(compare('loss', 2e-6, 0, close).ok).toBe(false)
  })

  test('equal values have error 0 and no place', () => {
    expect(compare('x', [1, [2, 3]], [1, [2, 3]], 'exact')).toEqual({
      max_abs: 0,
      maxRel: 0,
      where: '',
      ok: true,
    })
  })

  test('the place is the number that uses most of its tolerance, not the largest error', () => {
    // 1 of 10000 allowed at 1e7; 1e-4 of 2e-6 allowed at 1e-3.
    const found = compare(
      'g',
      [
        [1e7 + 1, 0],
        [1, 1e-3 + 1e-4],
      ],
      [
        [1e7, 0],
        [1, 1e-3],
      ],
      close,
    )
    expect(found).toMatchObject({ ok: false, where: 'g[1,1]', max_abs: 1 })
    expect(found.problem).toContain('g[1,1]: expected 0.001')
    expect(found.problem).toContain('1 of 4 numbers out of tolerance')
  })

  test('a typed array stands for a nested list, row-major', () => {
    const expected = [[[1, 2]], [[3, 4]]]
    expect(compare('g', Float32Array.of(1, 2, 3, 4), expected, 'exact').ok).toBe(true)
    expect(compare('g', Float32Array.of(1, 2, 3, 5), expected, 'exact').where).toBe('g[1,0,1]')
    expect(compare('g', Float32Array.of(1, 2, 3), expected, 'exact').problem).toBe(
      'g: expected a list of 2, got 3 values',
    )
  })

  test.for([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    '%d is out of any tolerance',
    (value) => {
      const found = compare('x', [1, value], [1, 2], { rtol: 1e9, atol: 1e9 })
      expect(found).toMatchObject({ ok: false, where: 'x[1]', max_abs: Number.POSITIVE_INFINITY })
    },
  )

  test('exact allows no difference at all', () => {
    expect(compare('order', [2, 1], [1, 2], 'exact').ok).toBe(false)
    expect(compare('loss', 1 + Number.EPSILON, 1, 'exact').ok).toBe(false)
  })

  test('records: paths by name, and missing and extra keys', () => {
    const expected = { 'actor/ppo_kl': 1, 'actor/pg_clipfrac': 0 }
    const wrong = compare('metrics', { 'actor/ppo_kl': 2, 'actor/pg_clipfrac': 0 }, expected, close)
    expect(wrong.where).toBe('metrics.actor/ppo_kl')
    const other = compare('metrics', { 'actor/ppo_kl': 1, 'actor/x': 0 }, expected, close)
    expect(other.problem).toContain('expected actor/pg_clipfrac, which was not computed')
    expect(other.problem).toContain('computed actor/x, which is not expected')
  })

  test('lists in records in lists', () => {
    const found = compare(
      'steps',
      [{ a: [1, 2] }, { a: [3, 9] }],
      [{ a: [1, 2] }, { a: [3, 4] }],
      close,
    )
    expect(found.where).toBe('steps[1].a[1]')
  })

  test('null, texts and shapes', () => {
    expect(compare('x', undefined, null, 'exact').ok).toBe(true)
    expect(compare('x', 'a', 'a', 'exact').ok).toBe(true)
    expect(compare('x', 'a', 'b', 'exact').problem).toBe('x: expected string b, got string a')
    expect(compare('x', 0, null, 'exact').problem).toBe('x: expected nothing, got number 0')
    expect(compare('x', undefined, 1, 'exact').problem).toBe('x: expected number 1, got nothing')
    expect(compare('x', [1, 2], [1], 'exact').problem).toBe(
      'x: expected a list of 1, got a list of 2',
    )
    expect(compare('x', { a: 1 }, [1], 'exact').ok).toBe(false)
    expect(compare('x', [1], { a: 1 }, 'exact').ok).toBe(false)
  })

  test('a tolerance can depend on the path', () => {
    const tolerance = (path: string) => (path === 'm.b' ? close : ('exact' as const))
    expect(compare('m', { a: 1, b: 1.0001 }, { a: 1, b: 1 }, tolerance).ok).toBe(true)
    expect(compare('m', { a: 1.0001, b: 1 }, { a: 1, b: 1 }, tolerance).ok).toBe(false)
  })
})

const check = (actual: number) =>
  runCheck({
    case: 'gae/seed1',
    on: 'driver',
    outputs: { advantages: { actual: [actual, 2], expected: [1, 2], tolerance: close } },
  })

test('two typed arrays are compared quickly, and the place is named by their shape', () => {
  const expected = new Float32Array(24)
  const actual = expected.slice()
  const run = (shape: readonly number[]) =>
    runCheck({
      case: 'tiny/fwd',
      on: 'gpu',
      outputs: { logits: { actual, expected, shape, tolerance: close } },
    })
  expect(run([2, 3, 4]).status).toBe('ok')
  actual[17] = 1
  expect(run([2, 3, 4])).toMatchObject({ status: 'FAIL', where: 'logits[1,1,1]' })
  actual[17] = Number.NaN
  expect(run([2, 3, 4])).toMatchObject({ status: 'FAIL', where: 'logits[1,1,1]' })
  const short = { actual: actual.slice(1), expected, shape: [24], tolerance: close }
  expect(runCheck({ case: 'x', on: 'gpu', outputs: { logits: short } })).toMatchObject({
    problem: 'logits: expected 24 values, got 23 values',
  })
})

test('a line says case, place, errors and where', () => {
  expect(resultLine(check(1.0005))).toBe(
    'ok    gae/seed1  driver  abs 5.0e-4  rel 5.0e-4  at advantages[0]',
  )
  expect(resultLine(check(1))).toBe('ok    gae/seed1  driver  abs 0  rel 0')
  expect(resultLine(check(3))).toContain('FAIL  gae/seed1  driver  abs 2.0e0')
  expect(resultLine({ case: 'tokenizer/x', status: 'later' })).toBe('later tokenizer/x')
})

test('the summary repeats every failure and counts', () => {
  const results: Result[] = [check(1), check(3), { case: 'tokenizer/x', status: 'later' }]
  expect(summary(results)).toContain('advantages[0]: expected 1, got 3')
  expect(summary(results).split('\n').at(-1)).toBe('1 passed, 1 failed, 1 later')
  expect(summary([check(1)])).toBe('1 passed, 0 failed, 0 later')
})
