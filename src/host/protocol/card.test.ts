import fc from 'fast-check'
import { expect, test } from 'vitest'
import { browserName, isCardHash } from '../../document/links/names.ts'
import { decodeCard, encodeCard, makeCard, type ResultCard } from './card.ts'

const NUMBERS = {
  peak_gflops: 51234.5678,
  peak_gbps: 2345.6,
  matmul_256_gflops: 1234.4,
  matmul_512_gflops: 9876.54321,
  sft_steps_per_second: 123.456,
  rl_steps_per_second: 0.0123456,
  rollout_tokens_per_second: 1e-7,
}
const card = makeCard('NVIDIA H100 (Hopper) & co+1', 'Chrome 142', NUMBERS)
const number = fc.double({ min: 0, max: 1e9, noNaN: true })
const anyCard = fc
  .tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.array(number))
  .map(([adapter, browser, values]) => {
    const names = Object.keys(NUMBERS)
    const numbers = Object.fromEntries(names.map((name, i) => [name, values[i] ?? 1]))
    return makeCard(adapter, browser, numbers as typeof NUMBERS)
  })

test('a card keeps four digits, and its link is plain text', () => {
  expect(card).toMatchObject({
    peak_gflops: 51230,
    rl_steps_per_second: 0.01235,
    rollout_tokens_per_second: 0,
  })
  expect(encodeCard(card)).toBe(
    'card=1&adapter=NVIDIA+H100+(Hopper)+%26+co%2B1&browser=Chrome+142&peak_gflops=51230&peak_gbps=2346' +
      '&matmul_256_gflops=1234&matmul_512_gflops=9877&sft_steps_per_second=123.5' +
      '&rl_steps_per_second=0.01235&rollout_tokens_per_second=0',
  )
})

test('every card survives its own link', () => {
  fc.assert(
    fc.property(anyCard, (made: ResultCard) => {
      const hash = `#${encodeCard(made)}`
      expect(isCardHash(hash)).toBe(true)
      expect(decodeCard(hash)).toEqual({ card: made, notices: [] })
    }),
  )
})

test('other hashes are no cards', () => {
  for (const hash of ['', '#', '#v=1&p=tiny', '#top', '#a&card=1'])
    expect(decodeCard(hash)).toEqual({ card: undefined, notices: [] })
})

test('what is not written as ours is left out with one notice', () => {
  const good = encodeCard(card)
  const bad = [
    'card=2',
    'card=',
    good.replace('card=1', 'card=9'),
    `${good}&seed=1`,
    good.replace('&peak_gflops=51230', ''),
    good.replace('peak_gbps', 'peak_gflops'),
    good.replace('51230', '-1'),
    good.replace('51230', 'NaN'),
    good.replace('51230', '1e3'),
    good.replace('51230', '99999999999'),
    good.replace('51230', '0x10'),
    good.replace('51230', ''),
    good.replace('Chrome+142', '%E0%A4%A'),
    good.replace('Chrome+142', 'a%00b'),
    good.replace('Chrome+142', '%E2%80%AEevil'),
    good.replace('Chrome+142', 'x'.repeat(81)),
    good.replace('Chrome+142', ''),
    `${good.replace('Chrome+142', 'x'.repeat(5000))}`,
  ]
  for (const hash of bad) {
    const { card, notices } = decodeCard(`#${hash}`)
    expect([card, notices.length], hash.slice(0, 80)).toEqual([undefined, 1])
    expect(notices[0].length).toBeLessThan(200)
  }
})

test('no hash makes it throw, or gives numbers that are none', () => {
  const good = encodeCard(card)
  const damaged = fc
    .tuple(fc.nat(good.length), fc.nat(6), fc.string({ unit: 'binary' }))
    .map(([at, cut, text]) => good.slice(0, at) + text + good.slice(at + cut))
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.string().map((text) => `card=${text}`),
      ),
      (hash) => {
        const { card, notices } = decodeCard(`#${hash}`)
        expect(card === undefined || notices.length === 0).toBe(true)
        for (const value of Object.values(card ?? {}))
          expect(typeof value === 'string' ? value.length > 0 : value >= 0 && value <= 1e9).toBe(
            true,
          )
      },
    ),
    { numRuns: 500 },
  )
})

test('browsers are distinguished although most claim to be all others', () => {
  const webkit = 'Mozilla/5.0 (X) AppleWebKit/537.36 (KHTML, like Gecko)'
  const named = [
    [`${webkit} Chrome/142.0.0.0 Safari/537.36`, 'Chrome 142'],
    [`${webkit} HeadlessChrome/142.0.0.0 Safari/537.36`, 'Chrome 142'],
    [`${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.1`, 'Edge 142'],
    [`${webkit} Version/26.1 Safari/605.1.15`, 'Safari 26'],
    [`${webkit} Version/26.0 Mobile/15E148 Safari/604.1`, 'Safari 26'],
    ['Mozilla/5.0 (X; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox 145'],
    ['', 'unknown browser'],
  ]
  for (const [userAgent, name] of named) expect(browserName(userAgent)).toBe(name)
})
