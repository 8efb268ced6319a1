// Draws the maps layer × step of several runs as one picture of a report, on one scale.
import { escaped, INKS, picture, short } from '../../../document/study/report/svg.ts'
import { cutText } from '../../../formats/cut_text.ts'
import { shortLayerName } from '../../glossary/layer_names.ts'
import { t } from '../../kit/translator.ts'
import { heatmapPixels } from '../../plot/heat/heat.ts'
import { HEAT_RAMP } from '../../scales/palette.ts'
import { type EntropyRows, scaleOfMaps } from '../panels/entropy_maps.ts'

export const MAPS_TITLE = 'Entropy of every layer’s policy by step, nats'

interface NamedMap {
  readonly name: string
  readonly rows: EntropyRows
}

const [WIDTH, COLUMNS, LEFT, TOP] = [760, 2, 56, 58]
/** Of a map, and of the room around it. */
const [MAP_W, MAP_H, ROOM_W, ROOM_H] = [296, 96, 370, 150]
/** Pixels of a map across: more cannot be seen. */
const ACROSS = 148
const SCALE_W = 120

/** A rectangle for each stretch of one colour. */
function rowsOf(pixels: Uint8ClampedArray, rows: number): string[] {
  const [wide, high] = [MAP_W / ACROSS, MAP_H / rows]
  const colourAt = (row: number, column: number) => {
    const at = 4 * (row * ACROSS + column)
    return pixels[at + 3] === 0 ? '' : `rgb(${pixels.slice(at, at + 3).join()})`
  }
  const parts: string[] = []
  for (let row = 0; row < rows; row++)
    for (let from = 0; from < ACROSS; ) {
      const colour = colourAt(row, from)
      let to = from + 1
      while (to < ACROSS && colourAt(row, to) === colour) to++
      const y = Number((row * high).toFixed(2))
      if (colour !== '')
        parts.push(
          `<rect x="${from * wide}" y="${y}" width="${(to - from) * wide}" height="${Number(high.toFixed(2))}" fill="${colour}"/>`,
        )
      from = to
    }
  return parts
}

/** What the colours mean. */
function scaleParts(scaleMax: number): string[] {
  const every = 8
  const wide = SCALE_W / (HEAT_RAMP.length / every)
  const steps = HEAT_RAMP.filter((_, i) => i % every === 0).map(
    (colour, i) =>
      `<rect x="${LEFT + i * wide}" y="30" width="${wide + 0.5}" height="9" fill="rgb(${colour.join()})"/>`,
  )
  return [
    `<text x="${LEFT - 8}" y="39" text-anchor="end">0</text>`,
    ...steps,
    `<text x="${LEFT + SCALE_W + 8}" y="39">${short(scaleMax)} nats</text>`,
  ]
}

/** Small multiples from the embedding at the bottom to the final policy at the top. */
export function mapsPicture(maps: readonly NamedMap[]): string {
  const { scaleMax, lastStep } = scaleOfMaps(maps.map(({ rows }) => rows))
  const parts = maps.map(({ name, rows }, i) => {
    const size = { width: ACROSS, x: [0, lastStep] as const }
    const pixels = heatmapPixels(rows, size, scaleMax, HEAT_RAMP)
    const [x, y] = [LEFT + (i % COLUMNS) * ROOM_W, TOP + 20 + Math.floor(i / COLUMNS) * ROOM_H]
    return [
      `<g transform="translate(${x} ${y})">`,
      `<text y="-6">${escaped(cutText(name, 46))}</text>`,
      `<rect width="${MAP_W}" height="${MAP_H}" fill="${INKS.empty}"/>`,
      ...rowsOf(pixels, rows.length),
      `<text x="-6" y="10" text-anchor="end">${t(shortLayerName(rows.length - 1, rows.length - 1))}</text>`,
      `<text x="-6" y="${MAP_H}" text-anchor="end">${t(shortLayerName(0))}</text>`,
      `<text y="${MAP_H + 15}">${t('step 0')}</text>`,
      `<text x="${MAP_W}" y="${MAP_H + 15}" text-anchor="end">${lastStep}</text>`,
      '</g>',
    ].join('')
  })
  const height = TOP + 20 + Math.ceil(maps.length / COLUMNS) * ROOM_H
  return picture(t(MAPS_TITLE), WIDTH, height, [...scaleParts(scaleMax), ...parts])
}
