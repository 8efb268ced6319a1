import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cardTable, fileName, withTable } from './card_table.mjs'

const card = {
  adapter: 'NVIDIA H100 <Hopper>|',
  browser: 'Chrome 142',
  peak_gflops: 51230,
  peak_gbps: 2346,
  matmul_256_gflops: 615.4,
  matmul_512_gflops: 2663,
  sft_steps_per_second: 53.2,
  rl_steps_per_second: 32.6,
  rollout_tokens_per_second: 91000,
}

test('a card is one row, with what its names could say as Markdown escaped', () => {
  const [, , row] = cardTable([card]).split('\n')
  expect(row).toBe(
    '| NVIDIA H100 \\<Hopper\\>\\| | Chrome 142 | 51.2 | 2346 | 615 | 2663 | 53.2 | 32.6 | 91000 |',
  )
  expect(fileName(card)).toBe('nvidia-h100-hopper-chrome-142.json')
  expect(cardTable([])).toBe('No card yet.')
})

test('docs/performance.md has the table of the cards that there are', () => {
  const text = readFileSync('docs/performance.md', 'utf8')
  const files = existsSync('bench/cards') ? readdirSync('bench/cards') : []
  const cards = files
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(`bench/cards/${name}`, 'utf8')))
  expect(text).toContain('<!-- cards -->')
  expect(withTable(text, cardTable(cards))).toBe(text)
})
