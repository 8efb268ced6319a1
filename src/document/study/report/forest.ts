// Draws the forest plot: the difference of every arm from the baseline with its interval, and the
// seeds' own differences.
import { cutText } from '../../../formats/cut_text.ts'
import type { Say } from '../../../formats/text_tables.ts'
import type { Analysis, Comparison } from '../analysis.ts'
import { measureTitle } from './measure_words.ts'
import { escaped, INKS, picture, scaleOf, short } from './svg.ts'
import { inHead, type Units, unitsOf } from './units.ts'
import { armName, equalWithin } from './words.ts'

const [LEFT, RIGHT, ROW, TOP] = [230, 170, 28, 44]
const WIDTH = 760

export interface ForestRow {
  readonly name: string
  readonly comparison: Comparison
}

/** The arms that have a seed in common with the baseline. */
export const forestRows = ({ arms }: Analysis): ForestRow[] =>
  arms.flatMap(({ arm, comparison }) =>
    comparison && comparison.pairs.length > 0 ? [{ name: arm.name, comparison }] : [],
  )

/** What a forest plot has room for: every seed's difference, and the t intervals. */
export const forestValues = (rows: readonly ForestRow[]): number[] =>
  rows.flatMap(({ comparison: { pairs, t } }) => [
    ...pairs.map(({ difference }) => difference),
    ...(t ? [t.low, t.high] : []),
  ])

export const forestTitle = ({ baseline, metric }: Analysis): string =>
  `${measureTitle(metric ?? '')}: difference from ${armName(baseline)}${inHead(unitsOf(metric).difference)}`

/** Beside a row: what was found, in a few words. The p of a difference says nothing for equality,
 * which has its margin beside it. */
export function besideRow({ verdict, p_holm, equality }: Comparison, units: Units): string {
  if (p_holm === undefined) return 'too few seeds'
  if (verdict === 'equal' && equality) return equalWithin(equality, units)
  const p = short(p_holm)
  if (verdict === 'better') return `better, p ${p}`
  return verdict === 'worse' ? `worse, p ${p}` : `none found, p ${p}`
}

/** Arms below each other, 0 as a line; bars are t intervals, thin ones bootstrap intervals, dots
 * the seeds. */
export function forestPlot(analysis: Analysis, say: Say = String): string {
  const compared = forestRows(analysis)
  const units = unitsOf(analysis.metric)
  const all = forestValues(compared)
  const { ticks, place } = scaleOf(Math.min(0, ...all), Math.max(0, ...all), LEFT, WIDTH - RIGHT)
  const bottom = TOP + compared.length * ROW
  const grid = ticks.map(
    (x) =>
      `<path d="M${place(x)} ${TOP - 8}V${bottom}" stroke="${x === 0 ? INKS.zero : INKS.grid}"/><text x="${place(x)}" y="${bottom + 18}" text-anchor="middle">${units.tick(x)}</text>`,
  )
  const rows = compared.map(({ name, comparison }, i) => {
    const { pairs, t, bootstrap, mean, verdict } = comparison
    const y = TOP + i * ROW + ROW / 2 - 4
    const colour = INKS[verdict === 'better' || verdict === 'worse' ? verdict : 'none']
    const dots = pairs.map(
      ({ difference }) =>
        `<circle cx="${place(difference)}" cy="${y}" r="2.5" fill="${colour}" fill-opacity="0.35"/>`,
    )
    const bar = t
      ? `<path d="M${place(t.low)} ${y}H${place(t.high)}" stroke="${colour}" stroke-width="3"/>`
      : ''
    const thin = bootstrap
      ? `<path d="M${place(bootstrap.low)} ${y + 6}H${place(bootstrap.high)}" stroke="${colour}" stroke-opacity="0.6"/>`
      : ''
    return `<text x="${LEFT - 12}" y="${y + 4}" text-anchor="end">${escaped(cutText(say(name), 34))}</text>${thin}${bar}${dots.join('')}<rect x="${place(mean) - 4}" y="${y - 4}" width="8" height="8" fill="${colour}"/><text x="${WIDTH - RIGHT + 10}" y="${y + 4}">${escaped(say(besideRow(comparison, units)))}</text>`
  })
  return picture(say(forestTitle(analysis)), WIDTH, bottom + 30, [...grid, ...rows])
}
