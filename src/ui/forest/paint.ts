// Draws the forest: layers as storeys from the canopy down, and the light that they let through.
import { clearness, lightAbove, type Scene } from './scene.ts'

type Color = readonly [red: number, green: number, blue: number]

interface Look {
  readonly sky: readonly [Color, Color]
  /** Leaves of a storey that is dark, and of one that is lit. */
  readonly shade: Color
  readonly lit: Color
  readonly ground: Color
  readonly beam: Color
  readonly trained: Color
}

const DAY: Look = {
  sky: [
    [255, 244, 205],
    [214, 228, 190],
  ],
  shade: [34, 70, 56],
  lit: [147, 186, 92],
  ground: [20, 42, 34],
  beam: [255, 236, 170],
  trained: [255, 196, 61],
}
const NIGHT: Look = {
  sky: [
    [46, 66, 84],
    [20, 38, 44],
  ],
  shade: [10, 24, 22],
  lit: [70, 132, 98],
  ground: [6, 14, 12],
  beam: [196, 226, 214],
  trained: [255, 205, 92],
}

const css = ([red, green, blue]: Color, alpha = 1) =>
  `rgb(${Math.round(red)} ${Math.round(green)} ${Math.round(blue)} / ${alpha})`
const mix = (a: Color, b: Color, share: number): Color => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
]

/** A number from 0 to 1 that looks random and is always the same for `n`. */
function chance(n: number): number {
  const x = Math.sin(n * 127.1 + 311.7) * 43758.5453
  return x - Math.floor(x)
}

const BEAMS = 7
const MOTES = 42
/** How far a beam leans, as a share of the height. */
const LEAN = 0.22

export interface Size {
  readonly width: number
  readonly height: number
}

/** Height of the crowns of storey `i` of `count`, as a share of the picture from the top. */
export const storeyAt = (i: number, count: number): number =>
  0.2 + (0.66 * i) / Math.max(1, count - 1)

/** A storey's outline and its trunks, for one size of the picture. */
interface Storey {
  readonly top: number
  /** The tops of the crowns alone, and the same with all below them. */
  readonly ridge: Path2D
  readonly leaves: Path2D
  readonly trunks: Path2D
}

const SAMPLE = 3
/** Room at both sides, into which a storey sways. */
const MARGIN = 12

function makeStorey(i: number, count: number, { width, height }: Size): Storey {
  const top = storeyAt(i, count) * height
  // Of a low picture too the crowns of the canopy are whole.
  const radius =
    Math.max(5, Math.min(44, width / 24, height / 5.5)) * (0.75 + 0.5 * storeyAt(i, count))
  const crowns: { readonly x: number; readonly y: number; readonly r: number }[] = []
  for (let n = 0, x = -MARGIN - radius; x < width + radius + MARGIN; n++) {
    const r = radius * (0.65 + 0.7 * chance(n + 53 * i))
    crowns.push({ x: x + r * 0.7, y: top + radius * 0.55 * (chance(n * 3 + 17 * i) - 0.5), r })
    x += r * (1.05 + 0.4 * chance(n + 5 * i))
  }
  const ridge = new Path2D()
  const trunks = new Path2D()
  for (let x = -MARGIN; x <= width + MARGIN; x += SAMPLE) {
    const y = crowns.reduce(
      (least, crown) => {
        const across = (x - crown.x) / crown.r
        return Math.abs(across) < 1
          ? Math.min(least, crown.y - 0.8 * crown.r * Math.sqrt(1 - across * across))
          : least
      },
      top + 0.2 * radius,
    )
    if (x === -MARGIN) ridge.moveTo(x, y)
    else ridge.lineTo(x, y)
  }
  for (const { x, r } of crowns) {
    const thick = r * (0.12 + 0.1 * chance(x + i))
    if (chance(x * 0.37 + i) < 0.6) trunks.rect(x - thick / 2, top + 0.2 * radius, thick, height)
  }
  const leaves = new Path2D(ridge)
  leaves.lineTo(width + MARGIN, height)
  leaves.lineTo(-MARGIN, height)
  leaves.closePath()
  return { top, ridge, leaves, trunks }
}

let made: { readonly key: string; readonly storeys: readonly Storey[] } | undefined

/** Outlines are made once for a size of the picture and a number of layers. */
function storeysOf(count: number, size: Size): readonly Storey[] {
  const key = `${count} ${size.width} ${size.height}`
  if (made?.key !== key)
    made = { key, storeys: Array.from({ length: count }, (_, i) => makeStorey(i, count, size)) }
  return made.storeys
}

interface Shaft {
  readonly from: number
  readonly to: number
  /** At its two ends. */
  readonly light: readonly [number, number]
  readonly color: Color
  readonly ms: number
}

/** The light between two heights, in slanted shafts that fade. */
function beams(context: CanvasRenderingContext2D, { width, height }: Size, shaft: Shaft): void {
  const { from, to, light, color, ms } = shaft
  if (light[0] < 0.01) return
  const shift = (y: number) => LEAN * (0.5 * height - y)
  for (let n = 0; n < BEAMS; n++) {
    const strength = 0.4 * (0.6 + 0.4 * Math.sin(ms / 3100 + n * 2.1))
    const x = width * (0.04 + (n + 0.7 * chance(n + 7)) / BEAMS)
    const half = width * (0.012 + 0.022 * chance(n + 31))
    const fade = context.createLinearGradient(0, from, 0, to)
    fade.addColorStop(0, css(color, strength * light[0]))
    fade.addColorStop(1, css(color, strength * light[1]))
    context.fillStyle = fade
    context.beginPath()
    context.moveTo(x - half + shift(from), from)
    context.lineTo(x + half + shift(from), from)
    context.lineTo(x + 1.1 * half + shift(to), to)
    context.lineTo(x - 1.1 * half + shift(to), to)
    context.fill()
  }
}

/** Dust that sinks; it can be seen where there is light. */
function motes(
  context: CanvasRenderingContext2D,
  { width, height }: Size,
  lightAt: (y: number) => number,
  color: Color,
  ms: number,
): void {
  for (let n = 0; n < MOTES; n++) {
    const y = ((chance(n) + (ms / 26000) * (0.6 + chance(n + 91))) % 1) * height
    const x = width * chance(n + 45) + 9 * Math.sin(ms / 1700 + n)
    const light = lightAt(y)
    if (light < 0.04) continue
    context.fillStyle = css(color, 0.75 * light)
    context.fillRect(x, y, 1.6, 1.6)
  }
}

interface Painted {
  readonly storey: Storey
  /** Where the next storey begins. */
  readonly to: number
  /** Light above it and below it. */
  readonly light: readonly [number, number]
  readonly leaves: Color
  readonly look: Look
  readonly isTrained: boolean
  readonly ms: number
}

/** One storey: its trunks and crowns, and the light that falls on them. */
function paintStorey(context: CanvasRenderingContext2D, size: Size, painted: Painted): void {
  const { storey, to, light, leaves, look, isTrained, ms } = painted
  context.save()
  context.translate(Math.sin(ms / 2600 + storey.top) * 3, 0)
  context.fillStyle = css(leaves)
  context.fill(storey.leaves)
  context.save()
  context.clip(storey.leaves)
  context.fillStyle = css(mix(leaves, look.ground, 0.55), 0.5)
  context.fill(storey.trunks)
  beams(context, size, { from: storey.top - 40, to, light, color: look.beam, ms })
  context.restore()
  if (isTrained) {
    context.strokeStyle = css(look.trained, 0.75 + 0.25 * Math.sin(ms / 420))
    context.lineWidth = 2.5
    context.lineJoin = 'round'
    context.stroke(storey.ridge)
  }
  context.restore()
}

/** Paints a scene as it is `ms` after the page was opened; one or two milliseconds. */
export function paintForest(
  context: CanvasRenderingContext2D,
  size: Size,
  scene: Scene,
  { isDark, ms }: { readonly isDark: boolean; readonly ms: number },
): void {
  const { width, height } = size
  const look = isDark ? NIGHT : DAY
  const sky = context.createLinearGradient(0, 0, 0, height)
  sky.addColorStop(0, css(look.sky[0]))
  sky.addColorStop(1, css(look.sky[1]))
  context.fillStyle = sky
  context.fillRect(0, 0, width, height)
  const clear = clearness(scene)
  const above = lightAbove(scene)
  const count = clear.length
  const storeys = storeysOf(count, size)
  const first = { from: 0, to: storeys[0].top, light: [1, 1] as const }
  beams(context, size, { ...first, color: look.beam, ms })
  for (const [i, storey] of storeys.entries()) {
    const layer = count - 1 - i
    const lit = above[layer] * (0.25 + 0.75 * clear[layer])
    paintStorey(context, size, {
      storey,
      to: storeys[i + 1]?.top ?? height,
      light: [above[layer], above[layer] * (0.12 + 0.88 * clear[layer])],
      leaves: mix(mix(look.shade, look.lit, lit), look.ground, 0.24 * storeyAt(i, count)),
      look,
      isTrained: layer === scene.trained,
      ms,
    })
  }
  const lightAt = (y: number) => {
    const i = storeys.findLastIndex(({ top }) => top < y)
    return i < 0 ? 1 : above[count - 1 - i] * (0.12 + 0.88 * clear[count - 1 - i])
  }
  motes(context, size, lightAt, look.beam, ms)
}
