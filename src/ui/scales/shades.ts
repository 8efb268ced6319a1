// Declares eleven background colours with a readable ink each, as CSS classes: a panel of thousands
// of tokens changes what its colours mean by changing class names.
import { HEAT_RAMP, oklchToRgb, type Rgb } from './palette.ts'

export const SHADES = 11

/** seq: the heat map's own colours, 0 (certain, bright) to 10 (undecided, dark). div: blue,
 * neutral, orange. */
export type Scale = 'seq' | 'div'

/** The class of a share of a scale, 0 … 1; shares outside are held at its ends, and what is not a
 * number has none. */
export function shadeOf(share: number): number | undefined {
  if (Number.isNaN(share)) return undefined
  return Math.round(Math.min(1, Math.max(0, share)) * (SHADES - 1))
}

const luminance = (rgb: Rgb): number => {
  const [r, g, b] = rgb.map((byte) => {
    const x = byte / 255
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** WCAG 2.2 contrast of two colours, 1 … 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}

const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]

/** Black or white, whichever reads better on a colour. */
export const inkOn = (rgb: Rgb): Rgb =>
  contrast(rgb, BLACK) >= contrast(rgb, WHITE) ? BLACK : WHITE

/** Lightness and chroma of the two ends and of the middle, which is nearly the panel's own colour;
 * and of what the other shades begin with next to the middle: at night it has a hue, for a dark
 * orange is a brown and a dark blue a grey. */
const DIVERGING = {
  light: {
    middle: [0.965, 0.008],
    blue: { near: [0.965, 0.008], end: [0.56, 0.15], hue: 250 },
    orange: { near: [0.965, 0.008], end: [0.68, 0.16], hue: 55 },
  },
  dark: {
    middle: [0.27, 0.012],
    blue: { near: [0.28, 0.045], end: [0.78, 0.12], hue: 240 },
    orange: { near: [0.28, 0.05], end: [0.82, 0.14], hue: 65 },
  },
} as const

function diverging(theme: 'light' | 'dark', index: number): Rgb {
  const { blue, middle, orange } = DIVERGING[theme]
  const at = (2 * index) / (SHADES - 1) - 1
  const { near, end, hue } = at < 0 ? blue : orange
  const far = Math.abs(at)
  if (far === 0) return oklchToRgb([...middle, hue])
  const blend = (i: 0 | 1) => near[i] + (end[i] - near[i]) * far
  return oklchToRgb([blend(0), blend(1), hue])
}

/** The colour of a class. */
export const shadeColor = (scale: Scale, index: number, theme: 'light' | 'dark'): Rgb =>
  scale === 'seq'
    ? HEAT_RAMP[Math.round((index / (SHADES - 1)) * (HEAT_RAMP.length - 1))]
    : diverging(theme, index)

const css = ([r, g, b]: Rgb) => `rgb(${r} ${g} ${b})`

/** The rules of all classes, as one text. */
export const SHADE_RULES = (['seq', 'div'] as const)
  .flatMap((scale) =>
    Array.from({ length: SHADES }, (_, index) => {
      const [light, dark] = (['light', 'dark'] as const).map((theme) =>
        shadeColor(scale, index, theme),
      )
      const both = (a: Rgb, b: Rgb) => `light-dark(${css(a)},${css(b)})`
      return `.${scale}-${index}{background-color:${both(light, dark)};color:${both(inkOn(light), inkOn(dark))}}`
    }),
  )
  .join('')
