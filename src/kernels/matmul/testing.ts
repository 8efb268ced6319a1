// Does the part of matrix units in lanes, for tests on adapters that have no such units.
import { MATRIX_TILE, type MatrixSteps, type MatrixUnit } from './tiles/matrix_source.ts'

/** The largest share by which rounding to a half changes a number that is one. */
export const HALF = 2 ** -11

/** What a product by lanes is written for. */
export const LANES_UNIT: MatrixUnit = { type: 'f32', rows: 8, cols: 8, depth: 8 }

/** One result of every so many lanes: sums of products, with factors as `rounded` gives them. */
const byLanes = (rounded: (x: string) => string): MatrixSteps => {
  const { rows, cols, stage, lanes } = MATRIX_TILE
  const each = (count: number, text: string) =>
    `for (var e = lane; e < ${count}u; e += ${lanes}u) {\n${text}\n}`
  const part = (rows * cols) / 2
  return {
    declared: `var<private> totals: array<f32, ${(rows * cols) / lanes}>;`,
    begin: '',
    multiply: each(
      rows * cols,
      `let r = e / ${cols}u * ${stage}u;
let c = e % ${cols}u * ${stage}u;
for (var p = 0u; p < ${stage}u; p++) {
totals[e / ${lanes}u] += ${rounded('left[r + p]')} * ${rounded('right[c + p]')};
}`,
    ),
    end: (i) => each(part, `sums[e] = totals[${(i * part) / lanes}u + e / ${lanes}u];`),
  }
}
/** Factors as they are. */
export const exact = byLanes((x) => x)
/** Factors rounded to halves. */
export const halved = byLanes((x) => `quantizeToF16(${x})`)
