// Lines of one chart must be told apart by people with any colour vision, on both papers.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RUN_COLORS } from '../../record/run/record.ts'
import { depthColor, layerDash, layerLook, type Rgb } from './palette.ts'

const css = readFileSync(new URL('../kit/tokens.css', import.meta.url), 'utf8')

function token(name: string, theme: 'light' | 'dark'): Rgb {
  const pair = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(css)
  if (!pair) throw new Error(`tokens.css has no --${name}`)
  const hex = pair[theme === 'light' ? 1 : 2]
  const channel = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16)
  return [channel(1), channel(3), channel(5)]
}

const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
const linearOf = (rgb: Rgb): Rgb => [
  linear(rgb[0] / 255),
  linear(rgb[1] / 255),
  linear(rgb[2] / 255),
]
const times = (m: readonly Rgb[], [x, y, z]: Rgb): Rgb => {
  const row = ([a, b, c]: Rgb) => Math.max(0, a * x + b * y + c * z)
  return [row(m[0]), row(m[1]), row(m[2])]
}

/** Full dichromacy in linear sRGB: Machado, Oliveira and Fernandes (2009), severity 1. */
const VISION: Readonly<Record<string, readonly Rgb[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** OKLab (Björn Ottosson, 2020). */
function oklab(rgb: Rgb): Rgb {
  const [l, m, s] = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  ).map(Math.cbrt)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}
const distance = (a: Rgb, b: Rgb) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
const luminance = (rgb: Rgb) => {
  const [r, g, b] = linearOf(rgb)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const SERIES = ['series-1', 'series-2', 'series-3']
const THEMES = ['light', 'dark'] as const

/** About five steps that a person just sees (0.02 each). */
const APART = 0.1

test.for(THEMES.flatMap((theme) => Object.keys(VISION).map((vision) => [theme, vision] as const)))(
  'series are told apart: %s theme, %s',
  ([theme, vision]) => {
    const seen = SERIES.map((name) => oklab(times(VISION[vision], linearOf(token(name, theme)))))
    for (const [i, one] of seen.entries())
      for (const other of seen.slice(i + 1)) expect(distance(one, other)).toBeGreaterThan(APART)
  },
)

/** WCAG 2.2, against the paper that charts lie on. */
function contrast(color: Rgb, theme: 'light' | 'dark'): number {
  const [dim, bright] = [luminance(token('panel', theme)), luminance(color)].sort((a, b) => a - b)
  return (bright + 0.05) / (dim + 0.05)
}
const hue = (rgb: Rgb): number => {
  const [, a, b] = oklab(linearOf(rgb))
  return (Math.atan2(b, a) * 180) / Math.PI
}
/** Degrees between two hues. */
const turned = (one: Rgb, other: Rgb): number =>
  Math.abs(((hue(one) - hue(other) + 540) % 360) - 180)
const layerColor = (layer: number, theme: 'light' | 'dark'): Rgb => {
  const [r, g, b] = (depthColor(layer, 5, theme === 'dark').match(/\d+/g) ?? []).map(Number)
  return [r, g, b]
}

test.for(THEMES)('series and layers stand out from the paper by 3 to 1: %s theme', (theme) => {
  for (const name of SERIES) expect(contrast(token(name, theme), theme)).toBeGreaterThan(3)
  for (let layer = 0; layer <= 5; layer++)
    expect(contrast(layerColor(layer, theme), theme)).toBeGreaterThan(3)
})

const RUNS = RUN_COLORS.map(({ color }) => color.slice(2))

test.for(THEMES)('names in the colour of a run can be read, 4.5 to 1: %s theme', (theme) => {
  for (const name of RUNS) expect(contrast(token(name, theme), theme), name).toBeGreaterThan(4.5)
})

test('a run and a layer keep their hue when the theme changes', () => {
  // Grey has hardly any.
  for (const name of RUNS.slice(0, -1))
    expect(turned(token(name, 'light'), token(name, 'dark')), name).toBeLessThan(8)
  for (let layer = 0; layer <= 5; layer++)
    expect(turned(layerColor(layer, 'light'), layerColor(layer, 'dark'))).toBeLessThan(12)
})

test('layers next to each other differ by dash too', () => {
  for (let layer = 0; layer < 31; layer++)
    expect(layerDash(layer)).not.toEqual(layerDash(layer + 1))
})

test.for(THEMES)(
  'no two layers of a model look alike, and the final policy is ink: %s theme',
  (theme) => {
    const looks = [0, 1, 2, 3, 4].map((layer) => layerLook(layer, 4, theme === 'dark'))
    expect(looks[4]).toEqual({ color: '--ink', dash: [] })
    expect(new Set(looks.map(({ color }) => color)).size).toBe(5)
  },
)
