// Draws curves of the arms with bands, and the entropy of every layer by arm.
import { cutText } from '../../../formats/cut_text.ts'
import { mean } from '../../../rl/math/stats.ts'
import type { Analysis } from '../analysis.ts'
import { type Arm, runExperiment } from '../arms.ts'
import { boundsOf } from '../bounds.ts'
import { fingerprintOf } from '../fingerprint.ts'
import { curveOf } from '../measure.ts'
import type { RunResult } from '../results.ts'
import { median, performanceProfile } from '../statistics/rliable.ts'
import { clamped, FEWEST_PAIRS, type Interval, tInterval } from '../statistics/student.ts'
import type { Study } from '../study.ts'
import { measureTitle } from './measure_words.ts'
import { colourOf, dashOf, escaped, INKS, picture, scaleOf, short } from './svg.ts'
import { budgetUnit, unitsOf } from './units.ts'

const [WIDTH, LEFT, RIGHT, TOP] = [760, 56, 16, 40]
/** What a legend has, its line with the room around it, and a letter of its names. */
const [INSIDE, KEY, LETTER] = [WIDTH - LEFT - RIGHT, 46, 7]

interface Band {
  readonly at: readonly number[]
  readonly middle: readonly number[]
  readonly low: readonly number[]
  readonly high: readonly number[]
}

/** A line of a picture, and the band around it; a band of no height is not seen. */
export interface PictureLine {
  readonly name: string
  readonly band: Band
  /** What stands beside its name; the last value where it is absent. */
  readonly value?: string
  /** Its seeds, where not all lines of the picture have as many. */
  readonly n?: number
}

/** ' (n = 2)': how many seeds a line has, where that is said. */
export const seedsText = ({ n }: Pick<PictureLine, 'n'>): string =>
  n === undefined ? '' : ` (n = ${n})`

/** Lines of means over these many seeds: where they differ, each says its own. */
function withSeeds(lines: readonly PictureLine[], counts: readonly number[]): PictureLine[] {
  const isMixed = new Set(counts.filter((n) => n > 0)).size > 1
  return lines.map((line, i) => (isMixed ? { ...line, n: counts[i] } : line))
}

/** What a picture of lines shows, for a file and for a chart of the page. */
export interface PictureLines {
  readonly title: string
  /** What the lower axis counts. */
  readonly unit: string
  readonly lines: readonly PictureLine[]
  /** The lower axis begins where the lines do, not at 0. */
  readonly isFitted?: boolean
  /** How numbers along the axes are written; as they are where it is absent. */
  readonly x?: (value: number) => string
  readonly y?: (value: number) => string
}

interface SeedCurve {
  readonly seed: number
  readonly at: readonly number[]
  readonly values: readonly number[]
}

/** The runs of one arm of a study. */
export const runsOf = ({ runs, arms }: Analysis, { seeds }: Study, name: string): RunResult[] => {
  const arm = arms.find((one) => one.arm.name === name)?.arm
  if (!arm) return []
  const known = new Set(seeds.map((seed) => fingerprintOf(runExperiment(arm, seed))))
  return runs.filter(({ fingerprint }) => known.has(fingerprint))
}

/** Mean and t interval at the places that every run measured, as far as the measure can go; of few
 * runs the lowest and the highest. */
function bandOf(curves: readonly SeedCurve[], bounds: Interval): Band {
  const intervalOf = (values: readonly number[]): Interval =>
    (values.length < FEWEST_PAIRS ? undefined : clamped(tInterval(values), bounds)) ?? {
      low: Math.min(...values),
      high: Math.max(...values),
    }
  const length = Math.min(...curves.map(({ values }) => values.length))
  const columns = Array.from({ length: Number.isFinite(length) ? length : 0 }, (_, i) => ({
    at: mean(curves.map(({ at }) => at[i])),
    values: curves.map(({ values }) => values[i]),
  }))
  return {
    at: columns.map(({ at }) => at),
    middle: columns.map(({ values }) => mean(values)),
    low: columns.map(({ values }) => intervalOf(values).low),
    high: columns.map(({ values }) => intervalOf(values).high),
  }
}

/** Lines in one frame, with bands of their 95 % intervals. */
export function linesPicture(
  { title, unit, lines, isFitted = false, x: xText = short, y: yText = short }: PictureLines,
  height = 400,
): string {
  const shown = lines.filter(({ band }) => band.at.length > 0)
  const longest = Math.max(0, ...shown.map((line) => line.name.length + seedsText(line).length))
  const columns = Math.max(1, Math.min(3, Math.floor(INSIDE / (KEY + longest * LETTER))))
  const letters = Math.floor((INSIDE / columns - KEY) / LETTER)
  const legendRows = Math.ceil(shown.length / columns)
  const bottom = height - 48
  const places = shown.flatMap(({ band }) => band.at)
  const least = isFitted ? Math.min(...places) : Math.min(0, ...places)
  const x = scaleOf(least, Math.max(least + 1e-9, ...places), LEFT, WIDTH - RIGHT)
  const heights = shown.flatMap(({ band }) => [...band.low, ...band.high])
  const y = scaleOf(Math.min(...heights, 0), Math.max(...heights, 0.001), bottom, TOP)
  const grid = [
    ...y.ticks.map(
      (v) =>
        `<path d="M${LEFT} ${y.place(v)}H${WIDTH - RIGHT}" stroke="${INKS.grid}"/><text x="${LEFT - 8}" y="${y.place(v) + 4}" text-anchor="end">${yText(v)}</text>`,
    ),
    ...x.ticks.map(
      (v) => `<text x="${x.place(v)}" y="${bottom + 18}" text-anchor="middle">${xText(v)}</text>`,
    ),
    `<text x="${WIDTH - RIGHT}" y="${bottom + 34}" text-anchor="end">${escaped(unit)}</text>`,
  ]
  const drawn = shown.map(({ band }, i) => {
    const path = (values: readonly number[]) =>
      values.map((v, k) => `${x.place(band.at[k])} ${y.place(v)}`)
    const area = [...path(band.high), ...path(band.low).reverse()].join('L')
    const dash = dashOf(i) && ` stroke-dasharray="${dashOf(i)}"`
    const fill =
      shown.length > 6 ? '' : `<path d="M${area}Z" fill="${colourOf(i)}" fill-opacity="0.1"/>`
    return `${fill}<path d="M${path(band.middle).join('L')}" fill="none" stroke="${colourOf(i)}" stroke-width="2"${dash}/>`
  })
  const legend = shown.map((line, i) => {
    const [own, seeds] = [line.name, seedsText(line)]
    const left = LEFT + (i % columns) * (INSIDE / columns)
    const top = height + Math.floor(i / columns) * 18
    const dash = dashOf(i) && ` stroke-dasharray="${dashOf(i)}"`
    return `<path d="M${left} ${top}h24" stroke="${colourOf(i)}" stroke-width="2"${dash}/><text x="${left + 30}" y="${top + 4}">${escaped(cutText(own, letters - seeds.length))}${seeds}</text>`
  })
  return picture(title, WIDTH, height + legendRows * 18 + 8, [...grid, ...drawn, ...legend])
}

/** Numbers of a metric along an axis. */
const axisText = (metric: string) => {
  const { tick, value: unit } = unitsOf(metric)
  return (value: number): string => `${tick(value)}${unit}`
}

/** A metric of every arm over the budget. `drawn`: which arms have a line. */
function metricLines(
  study: Study,
  analysis: Analysis,
  metric: string,
  drawn: (arm: Arm) => boolean = () => true,
): PictureLines {
  const { same } = study.budget
  const curves = analysis.arms.map(({ arm }) =>
    runsOf(analysis, study, arm.name).flatMap((run) =>
      drawn(arm) ? [{ seed: run.seed, ...curveOf(run, metric, same) }] : [],
    ),
  )
  const lines = curves.map((own, i) => ({
    name: analysis.arms[i].arm.name,
    band: bandOf(own, boundsOf(metric)),
  }))
  return {
    title: `${measureTitle(metric)} by arm`,
    unit: budgetUnit(same),
    lines: withSeeds(
      lines,
      curves.map(({ length }) => length),
    ),
    y: axisText(metric),
  }
}

/** The measured metric of every arm over the budget. */
export const curveLines = (study: Study, analysis: Analysis): PictureLines =>
  metricLines(study, analysis, analysis.metric ?? '')

const isJudged = ({ experiment }: Arm): boolean =>
  experiment.phases.some((phase) => phase.kind === 'rl' && phase.reward_model.enable)

/** What the reward model of an arm says of the samples in training: the proxy, beside the measure
 * that is meant (Gao et al., arXiv 2210.10760). Undefined where no arm has a reward model. */
export function proxyLines(study: Study, analysis: Analysis): PictureLines | undefined {
  const lines = metricLines(study, analysis, 'critic/score/mean', isJudged)
  if (lines.lines.every(({ band }) => band.at.length === 0)) return undefined
  return { ...lines, title: 'Score of the reward model in training, by arm' }
}

/** By run of an arm: the last values of metrics that end with a place (`pattern`: its number), by
 * place. */
function byPlace(analysis: Analysis, study: Study, name: string, pattern: RegExp): SeedCurve[] {
  return runsOf(analysis, study, name).map(({ seed, series }) => {
    const places = Object.entries(series)
      .flatMap(([key, curve]) => {
        const place = pattern.exec(key)?.[1]
        return place === undefined ? [] : [{ at: Number(place), value: curve.at(-1)?.[1] }]
      })
      .sort((a, b) => a.at - b.at)
    const values = places.map(({ value }) => value ?? Number.NaN)
    return { seed, at: places.map(({ at }) => at), values }
  })
}

/** By run of an arm: the entropy of every layer’s policy at the end, embedding first. */
export const entropiesOf = (analysis: Analysis, study: Study, name: string): SeedCurve[] =>
  byPlace(analysis, study, name, /^layer\/entropy\/(\d+)$/)

/** What is drawn by layer or block: metrics, one that has their bounds and unit, and words. */
const PLACES = {
  layers: {
    pattern: /^layer\/entropy\/(\d+)$/,
    metric: 'layer/entropy',
    title: 'Entropy of every layer’s policy at the end, nats',
    unit: 'layer',
  },
  blocks: {
    pattern: /^inside\/start_with\/blocks_up_to_(\d+)\/acc$/,
    metric: 'acc',
    title: 'Held-out accuracy of the start with blocks 1 to k of the run, at the end',
    unit: 'k',
  },
  teacher: {
    pattern: /^inside\/teacher_kl\/(\d+)$/,
    metric: 'teacher_kl',
    title: 'KL(teacher ‖ policy of the layer) at the end, nats',
    unit: 'layer',
  },
} as const

/** What was measured of every layer or block at the end of an arm's runs. Undefined where nothing
 * was. */
export function placeLines(
  study: Study,
  analysis: Analysis,
  which: keyof typeof PLACES,
): PictureLines | undefined {
  const { pattern, metric, title, unit } = PLACES[which]
  const curves = analysis.arms.map(({ arm: { name } }) => byPlace(analysis, study, name, pattern))
  const lines = curves.map((own, i) => ({
    name: analysis.arms[i].arm.name,
    band: bandOf(own, boundsOf(metric)),
  }))
  if (lines.every(({ band }) => band.at.length === 0)) return undefined
  const counts = curves.map(({ length }) => length)
  const text = metric === 'acc' && { y: axisText(metric) }
  return { title, unit, lines: withSeeds(lines, counts), ...text }
}

/** The share of every arm's runs that end above each value, as in rliable, from the lowest run on;
 * beside each name the median of its runs. Undefined for fewer than three runs of an arm. */
export function profileLines({ arms, metric = '' }: Analysis): PictureLines | undefined {
  const numbers = arms.map(({ values }) => values.map(({ value }) => value))
  const all = numbers.flat()
  if (numbers.some((own) => own.length < 3)) return undefined
  const [low, high] = [Math.min(...all), Math.max(...all)]
  // It falls at the value of a run, and nowhere else: right before and right at it.
  const near = (high - low || 1) * 1e-6
  const at = [...new Set(all)].sort((a, b) => a - b).flatMap((v) => [v - near, v])
  const units = unitsOf(metric)
  const lines = arms.map(({ arm: { name } }, i) => {
    const middle = performanceProfile(numbers[i], at)
    const value = `${units.bareValue(median(numbers[i]))}${units.value}`
    return { name, band: { at, middle, low: middle, high: middle }, value }
  })
  return {
    title: 'Runs that end above a value',
    unit: measureTitle(metric),
    lines: withSeeds(
      lines,
      numbers.map(({ length }) => length),
    ),
    isFitted: true,
    x: axisText(metric),
    y: axisText('acc'),
  }
}
