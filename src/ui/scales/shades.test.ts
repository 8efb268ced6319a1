import { expect, test } from 'vitest'
import { contrast, inkOn, SHADE_RULES, SHADES, shadeColor, shadeOf } from './shades.ts'

test('shares become eleven classes; the ends hold, and what is no number has none', () => {
  expect([-1, 0, 0.049, 0.051, 0.5, 1, 2].map(shadeOf)).toEqual([0, 0, 0, 1, 5, 10, 10])
  expect(shadeOf(Number.NaN)).toBeUndefined()
})

test('the ink of every class can be read, in light and in dark', () => {
  for (const scale of ['seq', 'div'] as const)
    for (const theme of ['light', 'dark'] as const)
      for (let index = 0; index < SHADES; index++) {
        const color = shadeColor(scale, index, theme)
        expect(contrast(color, inkOn(color)), `${scale}-${index} ${theme}`).toBeGreaterThan(4.5)
      }
})

test('both ends of the diverging scale stand out from its middle, and every class has its rule', () => {
  for (const theme of ['light', 'dark'] as const) {
    const middle = shadeColor('div', 5, theme)
    for (const end of [0, 10])
      expect(contrast(shadeColor('div', end, theme), middle)).toBeGreaterThan(2)
  }
  expect(SHADE_RULES.match(/\.(seq|div)-\d+\{/g)).toHaveLength(2 * SHADES)
})

test('a shade stands out from the one before it about as much as the next from it', () => {
  for (const theme of ['light', 'dark'] as const)
    for (let index = 1; index < SHADES; index++) {
      const pair = [shadeColor('div', index - 1, theme), shadeColor('div', index, theme)] as const
      expect(contrast(...pair), `div-${index} ${theme}`).toBeGreaterThan(1.1)
      expect(contrast(...pair), `div-${index} ${theme}`).toBeLessThan(1.7)
    }
})

test('at night a small value has a hue that can be told from grey, on both sides alike', () => {
  const spread = (index: number) => {
    const color = shadeColor('div', index, 'dark')
    return Math.max(...color) - Math.min(...color)
  }
  for (const index of [3, 7]) expect(spread(index), `div-${index}`).toBeGreaterThan(80)
  expect(contrast(shadeColor('div', 7, 'dark'), shadeColor('div', 3, 'dark'))).toBeLessThan(1.5)
})
