// Draws the heat map: the mean of every arm over the two fields of the grid.
import type { Say } from '../../../formats/text_tables.ts'
import { placeWords, settingLabel } from '../../experiment/form/setting_words.ts'
import type { Analysis } from '../analysis.ts'
import { axisValues } from '../grid.ts'
import type { Study } from '../study.ts'
import { measureTitle } from './measure_words.ts'
import { escaped, INKS, picture } from './svg.ts'
import { unitsOf } from './units.ts'

const [LEFT, TOP, CELL_W, CELL_H] = [150, 62, 84, 34]

/** Means by the values of two fields; `cells` are rows of `downs` over columns of `acrosses`. */
export interface HeatGrid {
  readonly title: string
  readonly down: string
  readonly across: string
  readonly downs: readonly string[]
  readonly acrosses: readonly string[]
  /** Undefined where nobody measured. */
  readonly cells: readonly (readonly (number | undefined)[])[]
}

/** Undefined for a study whose grid has not two fields. */
export function heatGrid(study: Study, { arms, metric }: Analysis): HeatGrid | undefined {
  const axes = Object.entries(study.grid)
  if (axes.length !== 2 || study.search) return undefined
  const [[down, downs], [across, acrosses]] = axes.map(
    ([path, axis]) => [path, axisValues(axis)] as const,
  )
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  const cells = downs.map((d) =>
    acrosses.map((a) => {
      const found = arms.filter(
        ({ arm: { settings } }) => same(settings[down], d) && same(settings[across], a),
      )
      const means = found.map((one) => one.mean).filter(Number.isFinite)
      return means.length > 0 ? means.reduce((x, y) => x + y, 0) / means.length : undefined
    }),
  )
  const texts = (values: readonly unknown[]) => values.map((value) => `${value}`)
  const title = `${measureTitle(metric ?? '')}, mean over seeds`
  const [downName, acrossName] = [down, across].map((path) => {
    const [{ arm }] = arms
    const words = `${placeWords(path)}${settingLabel(arm.experiment, path)}`
    return words.charAt(0).toUpperCase() + words.slice(1)
  })
  return {
    title,
    down: downName,
    across: acrossName,
    downs: texts(downs),
    acrosses: texts(acrosses),
    cells,
  }
}

/** How far a value lies between the lowest and the highest of a grid, 0…1. */
export function heatShade({ cells }: HeatGrid): (value: number) => number {
  const known = cells.flat().filter((x) => x !== undefined)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return (x) => (high === low ? 0.5 : (x - low) / (high - low))
}

/** Undefined for a study whose grid has not two fields. */
export function heatMap(study: Study, analysis: Analysis, say: Say = String): string | undefined {
  const grid = heatGrid(study, analysis)
  if (!grid) return undefined
  const { title, down, across, downs, acrosses, cells } = grid
  const shade = heatShade(grid)
  const { valueText } = unitsOf(analysis.metric)
  const parts = cells.flatMap((row, i) =>
    row.map((value, j) => {
      const [x, y] = [LEFT + j * CELL_W, TOP + i * CELL_H]
      if (value === undefined)
        return `<rect x="${x}" y="${y}" width="${CELL_W - 2}" height="${CELL_H - 2}" fill="${INKS.empty}"/>`
      const dark = shade(value) > 0.55
      return `<rect x="${x}" y="${y}" width="${CELL_W - 2}" height="${CELL_H - 2}" fill="${INKS.heat}" fill-opacity="${(0.08 + 0.92 * shade(value)).toFixed(2)}"/><text x="${x + CELL_W / 2 - 1}" y="${y + CELL_H / 2 + 3}" text-anchor="middle"${dark ? ` fill="${INKS.on_heat}"` : ''}>${valueText(value)}</text>`
    }),
  )
  const text = (value: string) => escaped(value.slice(0, 16))
  const heads = [
    ...acrosses.map(
      (a, j) =>
        `<text x="${LEFT + j * CELL_W + CELL_W / 2}" y="${TOP - 8}" text-anchor="middle">${text(a)}</text>`,
    ),
    ...downs.map(
      (d, i) =>
        `<text x="${LEFT - 10}" y="${TOP + i * CELL_H + 20}" text-anchor="end">${text(d)}</text>`,
    ),
    `<text x="${LEFT}" y="${TOP - 26}">${escaped(say(across))} →, ${escaped(say(down))} ↓</text>`,
  ]
  const width = Math.max(LEFT + acrosses.length * CELL_W + 16, 420)
  return picture(say(title), width, TOP + downs.length * CELL_H + 16, [...heads, ...parts])
}
