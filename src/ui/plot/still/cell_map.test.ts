import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Rgb } from '../../scales/palette.ts'
import { contrast } from '../../scales/shades.ts'
import { type Cell, cellOpacity, inkClass } from './CellMap.tsx'

const TOKENS = readFileSync('src/ui/kit/tokens.css', 'utf8')
const rgb = (hex: string): Rgb =>
  [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16)) as never
/** A colour of the page, in both themes. */
const colorsOf = (name: string): readonly [light: Rgb, dark: Rgb] => {
  const found = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(TOKENS)
  if (!found) throw new Error(`no colour ${name}`)
  return [rgb(found[1]), rgb(found[2])]
}
const [WHITE, BLACK]: readonly Rgb[] = [
  [255, 255, 255],
  [0, 0, 0],
]
const INKS = {
  'on-faint': [BLACK, WHITE],
  'on-middling': [BLACK, BLACK],
  'on-full': [WHITE, BLACK],
} as const
const FILLS = { known: 'series-1', less: 'series-2', more: 'series-3' } as const

test('the number of every cell can be read, in light and in dark', () => {
  for (const [tone, name] of Object.entries(FILLS))
    for (let share = 0; share <= 1; share += 0.01) {
      const cell = { tone: tone as Cell['tone'], share }
      const ink = INKS[inkClass(cell) as keyof typeof INKS]
      for (const theme of [0, 1] as const) {
        const [panel, full] = [colorsOf('panel')[theme], colorsOf(name)[theme]]
        const opacity = cellOpacity(cell)
        const fill = panel.map((own, i) => own + (full[i] - own) * opacity) as never as Rgb
        expect(contrast(fill, ink[theme]), `${tone} ${share}`).toBeGreaterThan(4.5)
      }
    }
})
