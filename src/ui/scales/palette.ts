// Computes colours: a sequential scale by depth and the ramp of the heat map. Both run
// monotonically in lightness, so that they read without colour vision and in grey.

export type Rgb = readonly [number, number, number]

/** [lightness 0…1, chroma, hue in degrees]. */
type Oklch = readonly [number, number, number]

/** OKLCH to 8-bit sRGB, clipped. Matrices: Björn Ottosson, "A perceptual color space" (2020). */
export function oklchToRgb([lightness, chroma, hue]: Oklch): Rgb {
  const a = chroma * Math.cos((hue * Math.PI) / 180)
  const b = chroma * Math.sin((hue * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const encode = (x: number) => {
    const gamma = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055
    return Math.round(Math.min(1, Math.max(0, gamma)) * 255)
  }
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ]
}

function mix(stops: readonly Oklch[], share: number): Oklch {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1)
  const low = Math.min(stops.length - 2, Math.floor(at))
  const [from, to] = [stops[low], stops[low + 1]]
  const blend = (i: 0 | 1 | 2) => from[i] + (to[i] - from[i]) * (at - low)
  return [blend(0), blend(1), blend(2)]
}

/** Amber litter, moss, deep pool: shallow to deep layers, of the same hues in both themes. On paper
 * deep is dark, at night deep is bright. */
const DEPTH_LIGHT: readonly Oklch[] = [
  [0.66, 0.14, 72],
  [0.58, 0.12, 130],
  [0.49, 0.1, 200],
  [0.36, 0.14, 272],
]
const DEPTH_DARK: readonly Oklch[] = [
  [0.62, 0.13, 72],
  [0.68, 0.13, 130],
  [0.73, 0.1, 200],
  [0.78, 0.11, 272],
]

/** Colour of layer `layer` of 0…`lastLayer`. */
export function depthColor(layer: number, lastLayer: number, dark: boolean): string {
  const [r, g, b] = oklchToRgb(
    mix(dark ? DEPTH_DARK : DEPTH_LIGHT, lastLayer > 0 ? layer / lastLayer : 1),
  )
  return `rgb(${r} ${g} ${b})`
}

const RAMP: readonly Oklch[] = [
  [0.94, 0.11, 100],
  [0.76, 0.13, 125],
  [0.58, 0.1, 170],
  [0.4, 0.08, 220],
  [0.2, 0.05, 265],
]

/** 256 colours, certain (bright) to undecided (dark), as light falls into the forest. */
export const HEAT_RAMP: readonly Rgb[] = Array.from({ length: 256 }, (_, i) =>
  oklchToRgb(mix(RAMP, i / 255)),
)

const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 2], [9, 2, 2, 2]]

/** Neighbouring layers have neighbouring colours, so they differ by dash as well. */
export const layerDash = (layer: number): readonly number[] => DASHES[layer % DASHES.length]

/** The line of a layer in every chart; the last one is the final policy. */
export const layerLook = (
  layer: number,
  lastLayer: number,
  isDark: boolean,
): { readonly color: string; readonly dash: readonly number[] } =>
  layer === lastLayer
    ? { color: '--ink', dash: [] }
    : { color: depthColor(layer, lastLayer - 1, isDark), dash: layerDash(layer) }
