import { expect, test, vi } from 'vitest'
import { TOLD } from '../host/content/models/told.ts'
import * as terminal from './base/terminal.ts'
import { generate } from './generate.ts'

const MODEL = 'conformance/fixtures/trl/repeat_digit/model'

test('a model writes after a text, and tells of every token', async () => {
  const printed: string[] = []
  const print = vi.spyOn(terminal, 'print').mockImplementation((line) => void printed.push(line))
  expect(await generate.run([MODEL, '--text', '7=', '--max-tokens', '3', '--json'])).toBe(0)
  expect(await generate.run([MODEL, '--text', '7=', '--max-tokens', '3'])).toBe(0)
  print.mockRestore()
  const { prompt_ids, text, tokens } = JSON.parse(printed[0])
  expect(prompt_ids).toEqual([9, 17])
  expect(tokens.length).toBeGreaterThan(0)
  expect(tokens.length).toBeLessThanOrEqual(3)
  for (const { entropy, log_prob } of tokens) {
    expect(entropy).toBeGreaterThanOrEqual(0)
    expect(log_prob).toBeLessThanOrEqual(0)
  }
  expect(printed[1]).toBe(text)
})

test('a shipped storyteller writes what the page shows of it before anybody trains it', async () => {
  const { text, writes } = TOLD
  const print = vi.spyOn(terminal, 'print').mockImplementation(() => {})
  await generate.run(['public/models/story', '--text', text, '--max-tokens', '175'])
  expect(print).toHaveBeenCalledWith(writes)
  print.mockRestore()
})

test('a direction between two texts changes what is written, by its strength', async () => {
  const printed: string[] = []
  const print = vi.spyOn(terminal, 'print').mockImplementation((line) => void printed.push(line))
  const texts = ['--text', '7=', '--max-tokens', '1', '--json']
  const steered = (strength: string) => [
    '--toward',
    '3=',
    '--away',
    '7=',
    '--layer',
    '1',
    '--strength',
    strength,
  ]
  await generate.run([MODEL, ...texts])
  await generate.run([MODEL, ...texts, ...steered('0')])
  await generate.run([MODEL, ...texts, ...steered('3')])
  print.mockRestore()
  const [plain, none, strong] = printed.map((line) => JSON.parse(line).tokens[0])
  expect(none).toEqual(plain)
  expect(strong.entropy).not.toBeCloseTo(plain.entropy, 3)
  const refused = (...args: string[]) => expect(generate.run([MODEL, '--text', '7=', ...args]))
  await refused('--toward', '3').rejects.toThrow('both texts or neither')
  await refused('--layer', '1').rejects.toThrow('--toward and --away beside it')
  await refused('--toward', '3', '--away', '7', '--layer', '99').rejects.toThrow(
    'layer: expected 0',
  )
  await refused('--toward', '3', '--away', '3').rejects.toThrow('two different texts')
})

test('what cannot be written is refused in words', async () => {
  await expect(generate.run([MODEL])).rejects.toThrow('--text TEXT, or --message TEXT')
  await expect(generate.run(['--text', 'a'])).rejects.toThrow('one model directory')
  await expect(generate.run([MODEL, '--text', 'a', '--top-p', '2'])).rejects.toThrow('--top-p')
  await expect(generate.run(['nowhere', '--text', 'a'])).rejects.toThrow('found nothing')
})
