// Writes and reads a benchmark's result as a link: `#card=1&adapter=…&…`. Takes hostile input and
// never throws.

import { cleanName, isCardHash } from '../../document/links/names.ts'
import { show } from '../../rl/fields/field.ts'
import type { BenchmarkNumbers } from './results.ts'

/** One result: where it was measured, and what. */
export interface ResultCard extends BenchmarkNumbers {
  readonly adapter: string
  readonly browser: string
}

const CARD_VERSION = '1'
/** Twelve characters of a link at most for each one of a name. */
const MAX_CARD_LENGTH = 2500
const LARGEST = 1e9
/** Smaller than any machine's number. */
const SMALLEST = 1e-5
const NUMBER = /^\d{1,10}(\.\d{1,9})?$/

const NUMBERS = [
  'peak_gflops',
  'peak_gbps',
  'matmul_256_gflops',
  'matmul_512_gflops',
  'sft_steps_per_second',
  'rl_steps_per_second',
  'rollout_tokens_per_second',
] as const satisfies readonly (keyof BenchmarkNumbers)[]
const NAMES = ['adapter', 'browser'] as const

/** Four significant digits, as a link carries them. */
const rounded = (value: number): number =>
  value >= SMALLEST && value <= LARGEST ? Number(value.toPrecision(4)) : 0

/** A card of these numbers, as a link will carry it. */
export function makeCard(adapter: string, browser: string, numbers: BenchmarkNumbers): ResultCard {
  const kept = Object.fromEntries(NUMBERS.map((name) => [name, rounded(numbers[name])]))
  return {
    adapter: cleanName(adapter),
    browser: cleanName(browser),
    ...(kept as unknown as BenchmarkNumbers),
  }
}

/** A number in plain decimals, which `${value}` leaves for small ones. */
const decimal = (value: number): string => value.toFixed(9).replace(/\.?0+$/, '')

/** The hash of a card's link, without '#'. */
export const encodeCard = (card: ResultCard): string =>
  [
    `card=${CARD_VERSION}`,
    ...NAMES.map((name) => `${name}=${encodeURIComponent(card[name]).replaceAll('%20', '+')}`),
    ...NUMBERS.map((name) => `${name}=${decimal(card[name])}`),
  ].join('&')

/** The link that shows a card to someone else; `address` is the page's own. */
export const cardLink = (card: ResultCard, address: string): string =>
  `${address}#${encodeCard(card)}`

/** The card of a link's hash; none and a notice when it is not written as ours are; neither when
 * there is none. */
export function decodeCard(hash: string): {
  readonly card: ResultCard | undefined
  readonly notices: readonly string[]
} {
  if (!isCardHash(hash)) return { card: undefined, notices: [] }
  const problem = (why: string) => ({
    card: undefined,
    notices: [`The benchmark result in the link was left out: ${why}.`],
  })
  if (hash.length > MAX_CARD_LENGTH) return problem(`it has ${hash.length} characters`)
  const pairs = hash.replace(/^#/, '').split('&')
  const expected = ['card', ...NAMES, ...NUMBERS]
  if (pairs.length !== expected.length)
    return problem(`expected ${expected.length} entries, found ${pairs.length}`)
  const read: Record<string, string | number> = {}
  for (const [i, pair] of pairs.entries()) {
    const at = pair.indexOf('=')
    const [name, text] = [pair.slice(0, at), pair.slice(at + 1)]
    if (name !== expected[i]) return problem(`expected ${expected[i]}, found ${show(pair)}`)
    const value = readEntry(name, text)
    if (value === undefined) return problem(`${name} cannot be ${show(text)}`)
    read[name] = value
  }
  const { card: _version, ...card } = read
  return { card: card as unknown as ResultCard, notices: [] }
}

function readEntry(name: string, text: string): string | number | undefined {
  if (name === 'card') return text === CARD_VERSION ? text : undefined
  if ((NAMES as readonly string[]).includes(name)) {
    try {
      const value = decodeURIComponent(text.replaceAll('+', ' '))
      return value === cleanName(value) ? value : undefined
    } catch {
      return undefined
    }
  }
  const value = Number(text)
  return NUMBER.test(text) && value <= LARGEST ? value : undefined
}
