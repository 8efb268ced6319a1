import { expect, test } from 'vitest'
import { numberWords } from '../../document/experiment/fields/number_words.ts'
import * as format from './format.ts'

test('what was not computed is a dash, and a number that is not finite says so', () => {
  expect(format.formatNumber(undefined)).toBe('–')
  expect(format.formatShare(undefined)).toBe('–')
  expect(format.formatDuration(Number.POSITIVE_INFINITY)).toBe('–')
  expect(format.formatNumber(Number.NaN)).toBe('not finite')
})

test('numbers keep three digits and stay short', () => {
  expect([0, 0.12345, -0.00012, 12.345, 4210.4, 2e7].map(format.formatNumber)).toEqual([
    '0',
    '0.123',
    '−1.2e-4',
    '12.3',
    '4,210',
    '2.0e7',
  ])
})

test('a learning rate is written as its field writes it, its ticks too', () => {
  const rates = [0, 5e-4, 0.00016666, 0.0015, 3e-5, 1.79e-5]
  expect(rates.map(format.formatRate)).toEqual([
    '0',
    '0.0005',
    '0.000167',
    '0.0015',
    '3e-5',
    '1.79e-5',
  ])
  expect(rates.slice(1, 2).map(numberWords)).toEqual(['0.0005'])
  expect(format.formatRate(undefined)).toBe('–')
  expect(format.tickOf(format.formatRate)(2.5e-4)).toBe('0.00025')
  expect(format.tickOf(format.formatShare)(0.25)).toBe('25\u202f%')
  expect(format.tickOf()(0.25)).toBe('0.25')
})

test('below zero every number has the same sign, U+2212', () => {
  const { formatNumber, formatSigned, formatShare, formatNats, formatTick, formatPercent } = format
  for (const write of [formatNumber, formatSigned, formatShare, formatNats, formatTick])
    expect([-0.25, -0.02, -12_345].map(write).join()).toMatch(/^−[^-]*,−[^-]*,−[^-]*$/)
  // An exponent has the sign that one types.
  expect(formatNumber(-1e-5)).toBe('−1.0e-5')
  expect(formatPercent(-0.25)).toBe('−25\u202f%')
})

test('a tick has as many digits as it needs', () => {
  expect([0, 2.5e307, 5e307, 7.5e307, 1e308].map(format.formatTick)).toEqual([
    '0',
    '2.5e307',
    '5e307',
    '7.5e307',
    '1e308',
  ])
  expect([10_000, 10_250, 0.30000000000000004, 1.2345, 1.23452].map(format.formatTick)).toEqual([
    '10k',
    '10.25k',
    '0.3',
    '1.2345',
    '1.23452',
  ])
  expect([0.9995, 1].map(format.formatPercent)).toEqual(['99.95\u202f%', '100\u202f%'])
  expect(format.tickOf(format.formatRate)(1.025e-4)).toBe('0.0001025')
})

test('bytes and seconds take the unit that fits', () => {
  expect([0, 900, 2048, 3e6, 7e9].map(format.formatBytes)).toEqual([
    '0 B',
    '900 B',
    '2.0 KiB',
    '2.9 MiB',
    '6.5 GiB',
  ])
  expect([12, 200, 3900].map(format.formatDuration)).toEqual(['12 s', '3 min 20 s', '1 h 05 min'])
})
