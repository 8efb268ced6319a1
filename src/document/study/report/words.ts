// Says in sentences what a study asks and found.
import { mean, variance } from '../../../rl/math/stats.ts'
import {
  ALPHA,
  type Analysis,
  type ArmResult,
  type Comparison,
  type Equality,
} from '../analysis.ts'
import { MOST_SEEDS, smallestEffect } from '../statistics/power.ts'
import { FEWEST_PAIRS } from '../statistics/student.ts'
import { measuresOf, type Study } from '../study.ts'
import { measureWords } from './measure_words.ts'
import { short } from './svg.ts'
import { type Units, unitsOf } from './units.ts'

/** The name and the question. A study that is named after its question has the whole question as
 * its title, and nothing beside it. */
export const titleParts = ({
  name,
  question,
}: Pick<Study, 'name' | 'question'>): readonly [title: string, question: string] =>
  question.startsWith(name) ? [question, ''] : [name, question]

/** The name of an arm in a sentence: quoted where its own comma would cut that. */
export const armName = (name: string): string => (name.includes(', ') ? `“${name}”` : name)

/** `+1.2 [−0.4, +3.0]`: a difference and its interval, without the unit. */
export const bareDifference = ({ mean, t }: Comparison, units: Units): string =>
  t
    ? `${signed(mean, units)} [${signed(t.low, units)}, ${signed(t.high, units)}]`
    : signed(mean, units)

/** `+1.2 [−0.4, +3.0] points`. */
export const differenceText = (comparison: Comparison, units: Units): string =>
  `${bareDifference(comparison, units)}${units.difference}`

/** One arm against the baseline. */
export function armSentence(
  { arm, comparison }: ArmResult,
  { baseline, metric }: Pick<Analysis, 'baseline' | 'metric'>,
): string {
  const [name, base] = [arm.name, baseline].map(armName)
  if (!comparison || comparison.pairs.length === 0) return `${name}: nothing to compare yet.`
  const { verdict, p_holm, pairs, seeds_needed } = comparison
  const difference = differenceText(comparison, unitsOf(metric))
  if (p_holm === undefined)
    return `${name}: too few seeds to say (${difference}, ${pairs.length} seeds).`
  const facts = `${difference}, ${pairs.length} seeds, p ${short(p_holm)} after Holm`
  const said = equalityText(comparison, unitsOf(metric))
  if (verdict === 'equal') return `${name} is equal to ${base} ${said} (${facts}).`
  if (verdict !== 'none')
    return `${name} is ${verdict === 'better' ? 'better' : 'worse'} than ${base}${said && `, and equal ${said}`} (${facts}).`
  const more =
    comparison.mean === 0
      ? ''
      : seeds_needed === undefined
        ? ` More than ${MOST_SEEDS} seeds would be needed to find a difference of this size.`
        : ` About ${seeds_needed} seeds would find a difference of this size in four of five studies, before Holm’s correction.`
  return `${name}: no difference from ${base} found (${facts}).${more}${unshown(comparison, unitsOf(metric))}`
}

/** `within 3.0 points (90 % [−1.2, +0.8], p 0.01 of two one-sided t tests)`; '' where that is not
 * shown. */
function equalityText({ equality }: Comparison, units: Units): string {
  if (!equality || equality.p >= ALPHA) return ''
  const { low, high } = equality.interval
  return `within ${units.bareDifference(equality.margin)}${units.difference} (90 % [${signed(low, units)}, ${signed(high, units)}], p ${short(equality.p)} of two one-sided t tests)`
}

/** `equal within 3.0 points`: of what is shown, not of what was not found. */
export const equalWithin = ({ margin }: Equality, units: Units): string =>
  `equal within ${units.bareDifference(margin)}${units.difference}`

/** That a difference which was not found was not shown to be small either. */
const unshown = ({ equality }: Comparison, units: Units): string =>
  equality
    ? ` Nor is it shown to be smaller than ${units.bareDifference(equality.margin)}${units.difference} (p ${short(equality.p)} of two one-sided t tests).`
    : ''

/** With its sign: `+1.2`, `−0.7`. */
export const signed = (x: number, { bareDifference }: Units): string =>
  x > 0 ? `+${bareDifference(x)}` : bareDifference(x)

/** The difference that counts as none: `3.0 points`. */
export function marginText({ measure }: Study, { metric }: Pick<Analysis, 'metric'>): string {
  const units = unitsOf(metric)
  return `${units.bareDifference(measure.equal_within ?? 0)}${units.difference}`
}

const MEASURES = {
  end: 'at the end of the budget',
  first: 'where it was first measured behind the start',
  last: 'the mean of its last five values within the budget',
  area: 'its mean height over the budget (learning-curve area)',
} as const

/** Where it is read. */
export const placeOf = ({ at, reaches }: Study['measure']): string =>
  at === 'level'
    ? `where ${measureWords(reaches ?? '')} first comes to what all arms of the seed reached`
    : MEASURES[at]

/** A primary measure, and whether it was fixed beforehand. */
export const measureSentence = (
  { measure, written }: Study,
  { metric }: Pick<Analysis, 'metric'>,
): string =>
  `Primary measure, ${written === 'before' ? 'fixed beforehand' : 'chosen after the runs were known, so all of this is exploratory'}: ${measureWords(metric ?? measure.metric)}, ${placeOf(measure)}; ${measure.goal === 'lower' ? 'lower' : 'higher'} is better.`

/** What this many seeds could see, by how much differences varied among them; undefined where there
 * are too few to say. */
export function powerSentence({ arms, metric }: Analysis): string | undefined {
  const own = arms.flatMap(({ comparison }) => (comparison ? [comparison.pairs] : []))
  const counts = own.map(({ length }) => length)
  const n = Math.min(...counts)
  if (own.length === 0 || n < 3) return undefined
  const variances = own.map((pairs) =>
    variance(
      pairs.map(({ difference }) => difference),
      { unbiased: true },
    ),
  )
  const units = unitsOf(metric)
  const deviation = Math.sqrt(mean(variances))
  const said = (x: number) => `${units.bareDifference(x)}${units.difference}`
  return `Power: differences by seed had a standard deviation of ${said(deviation)} (pooled over the arms), so ${n} seeds find a difference of ${said(smallestEffect(n) * deviation)} in four of five studies, before the correction.`
}

/** What the band of a curve is. */
export function bandSentence(arms: Analysis['arms'] = []): string {
  const counts = arms.map(({ values }) => values.length).filter((n) => n > 0)
  const few = counts.filter((n) => n < FEWEST_PAIRS).length
  if (few > 0 && few === counts.length)
    return `The band of a curve reaches from its lowest to its highest seed, because fewer than ${FEWEST_PAIRS} make no interval.`
  const rest =
    few > 0
      ? `; of an arm with fewer than ${FEWEST_PAIRS} seeds so far it reaches from the lowest to the highest`
      : ''
  return `The band of a curve is the 95 % interval of that arm’s own mean${rest}.`
}

/** What was fixed beforehand. */
export function planSentence(
  study: Study,
  analysis: Pick<Analysis, 'metric'> & Partial<Pick<Analysis, 'arms'>>,
): string {
  const { measure, budget } = study
  const measures = measuresOf(study).length
  const all = measures > 1 ? ` of all ${measures} primary measures` : ''
  const equal =
    measure.equal_within === undefined
      ? ''
      : `Equal is what two one-sided t tests show to differ by less than ${marginText(study, analysis)}, corrected alike. `
  return (
    `${measureSentence(study, analysis)} ` +
    `Equal budget: the same ${budget.same} of reinforcement for every arm, counted and read where all runs have spent it. ` +
    `Differences are paired by seed; ${measure.test === 't' ? 'the paired t test' : 'the sign-flip permutation test'} decides at ${100 * ALPHA} % after Holm’s correction over the arms${all}. ${equal}${bandSentence(analysis.arms)}`
  )
}
