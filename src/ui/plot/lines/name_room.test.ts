import { expect, test } from 'vitest'
import { cutName, lettersOf, nameGutter, namesInGutter, partOfName } from './name_room.ts'

const nameInGutter = (name: string, gutter: number) => namesInGutter([name], gutter)[0]

const LONG = 'BuPO, layer 1 first, lr 0.0015'

test('the longest name is said whole where a quarter of the chart has room for it and its value', () => {
  const gutter = nameGutter(['whole model', LONG], 1400)
  expect(gutter).toBeLessThan(280)
  expect(nameInGutter(LONG, gutter)).toBe(LONG)
  expect(nameInGutter('whole model', gutter)).toBe('whole model')
  expect(nameGutter(['GRPO', 'PPO'], 1400)).toBeLessThan(gutter)
  for (let letters = 1; letters < 40; letters++) {
    const name = 'x'.repeat(letters)
    expect(nameInGutter(name, nameGutter([name], 2000))).toBe(name)
  }
})

test('a name that is longer is cut, a Chinese one after half as many letters', () => {
  const gutter = nameGutter([LONG.repeat(3)], 620)
  expect(gutter).toBeCloseTo(0.25 * 620)
  const cut = nameInGutter(LONG, 171)
  expect(cut).toMatch(/^BuPO, lay.*…$/)
  const chinese = nameInGutter('先训练第一层然后训练整个模型', 171)
  expect(chinese.length).toBeLessThanOrEqual(Math.ceil(cut.length / 2))
})

test('a name that is cut takes no more room than there is', () => {
  for (const name of [
    LONG,
    '256 × 1，没有 critic（REINFORCE++）',
    '先训练第一层，然后训练整个模型',
  ])
    for (let most = 4; most < 40; most++) {
      const cut = cutName(name, most)
      expect(lettersOf(cut)).toBeLessThanOrEqual(most)
      if (lettersOf(name) <= most) expect(cut).toBe(name)
    }
})

test('the longest share, in bold, has room behind the longest name', () => {
  // 4 digits, a point, a space, the sign and the space before them, of 12 px.
  const bold = 12 * (4 * 0.7 + 0.38 + 0.35 + 1.0 + 0.32)
  expect(nameGutter(['GRPO'], 2000) - nameGutter([''], 2000)).toBeCloseTo(4 * 6.4, 6)
  expect(nameGutter([''], 2000) - 20).toBeGreaterThan(bold)
})

test('a wide chart has room for what tells runs apart at the end of their names', () => {
  for (const name of ['BuPO (REINFORCE++), lr 0.006, seed 2', 'BuPO, layer 2 first, lr 0.0015'])
    expect(nameInGutter(name, nameGutter([name], 1040))).toBe(name)
})

test('names that begin alike keep the end that tells them apart', () => {
  const names = ['a', 'b'].map((end) => `deepseek_llm_7b_function_rm_math_${end}`)
  const cut = namesInGutter([...names, LONG.repeat(2)], 240)
  expect(cut[0]).toMatch(/^deepseek.*….*_a$/)
  expect(cut[1]).toMatch(/^deepseek.*….*_b$/)
  expect(cut[2]).toMatch(/^BuPO.*…$/)
  for (const name of cut) expect(name.length).toBe(cut[2].length)
})

test('names that begin and end alike keep what tells them apart', () => {
  const names = ['2', '12'].map((layer) => `BuPO (REINFORCE++), layer ${layer} first, step 19`)
  const cut = namesInGutter([...names, LONG.repeat(2)], 180)
  expect(cut.slice(0, 2)).toEqual(['…2 first, step…', '…12 first, ste…'])
  // Two that are the same whole are not to be told apart.
  expect(namesInGutter([names[0], names[0]], 180)).toEqual(['BuPO (REINFORC…', 'BuPO (REINFORC…'])
})

test('a name that leaves something out says where', () => {
  const say = (name: string) => name.toUpperCase()
  expect(partOfName('bupo, lr 1', 'bupo, lr 1', say)).toBe('BUPO, LR 1')
  expect(partOfName('lr 1', 'bupo, lr 1', say)).toBe('… LR 1')
  expect(partOfName('bupo', 'bupo, lr 1', say)).toBe('BUPO …')
})
