// Says what a study found in a sentence or two, with the sizes of the differences and the number of
// seeds: the same words for the page, its list and the report.
import { ALPHA, type Analysis, type Comparison } from '../analysis.ts'
import type { Arm } from '../arms.ts'
import { FEWEST_PAIRS } from '../statistics/student.ts'
import type { Study } from '../study.ts'
import { measureWords } from './measure_words.ts'
import { type Units, unitsOf } from './units.ts'
import { armName, bareDifference, differenceText, marginText, placeOf, signed } from './words.ts'

/** What is longer is counted. */
const MOST_NAMES = 3
const MOST_LETTERS = 40

/** `BuPO, layer 2 first`: what is before its first whole number, the number, and what follows. */
const NUMBERED = /^(\D*\b)(\d+)(?![\d.e])(.*)$/

const plural = (before: string): string => before.replace(/\blayer $/, 'layers ')

/** Names in a row that differ by a number that rises by one are said as one: `layers 1–3 alone`. */
export function joinNumbered(names: readonly string[]): readonly string[] {
  const said: string[] = []
  for (let i = 0; i < names.length; ) {
    const [, before, first, after] = NUMBERED.exec(names[i]) ?? []
    let next = i + 1
    if (before !== undefined)
      while (names[next] === `${before}${Number(first) + next - i}${after}`) next++
    const last = Number(first) + next - i - 1
    said.push(next > i + 1 ? `${plural(before)}${first}–${last}${after}` : names[i])
    i = next
  }
  return said
}

/** How many arms it is where their names are many or long. */
function namesOrCount(names: readonly string[], all: number): string {
  const joined = joinNumbered(names)
  if (joined.length <= MOST_NAMES && joined.every(({ length }) => length <= MOST_LETTERS))
    return joined.join(joined.some((name) => /[,;]/.test(name)) ? '; ' : ', ')
  return `${names.length} of ${all} arms`
}

/** An arm by its group, where it is the only one of it: what a search has chosen says the report's
 * table. */
const shortName = ({ arms }: Analysis, { name, group }: Arm): string =>
  group !== '' && arms.filter(({ arm }) => arm.group === group).length === 1 ? group : name

interface Compared extends Comparison {
  readonly name: string
}

/** '−25.1 to −23.3 points'; of one arm with its interval. */
function sizesOf(arms: readonly Compared[], units: Units): string {
  if (arms.length === 1) return differenceText(arms[0], units)
  const means = arms.map(({ mean }) => mean)
  const [low, high] = [Math.min(...means), Math.max(...means)].map((x) => signed(x, units))
  return `${low === high ? low : `${low} to ${high}`}${units.difference}`
}

function seedsOf(arms: readonly Compared[]): string {
  const counts = arms.map(({ pairs }) => pairs.length)
  const [few, many] = [Math.min(...counts), Math.max(...counts)]
  return few === many ? `${many} seeds` : `${few} to ${many} seeds`
}

/** `2.1, 17.7`: the interval of how far it is above, or below. */
function distances({ t, mean }: Comparison, units: Units): string {
  const [low, high] = t ? [t.low, t.high] : [mean, mean]
  const [near, far] = mean > 0 ? [low, high] : [-high, -low]
  return `${units.bareDifference(near)}, ${units.bareDifference(far)}`
}

/** '23.3 to 25.1 points', '13.0 [3.3, 22.8] points': how far some arms are from the baseline. */
function apart(arms: readonly Compared[], units: Units): string {
  const sizes = arms.map(({ mean }) => Math.abs(mean))
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)].map(units.bareDifference)
  if (arms.length === 1) return `${low} [${distances(arms[0], units)}]${units.difference}`
  return `${low === high ? low : `${low} to ${high}`}${units.difference}`
}

const VERDICTS = ['better', 'worse', 'equal', 'none', 'too few'] as const

/** Whether arms of which no difference was found have one until Holm's correction: a reader asks
 * why their intervals say otherwise. */
const isCorrected = (arms: readonly Compared[]): boolean => arms.some(({ p = 1 }) => p < ALPHA)

/** What was found of some arms, of one verdict all. Where they differ, a language may name them
 * first. */
function saysOf(
  verdict: Comparison['verdict'],
  { arms, names }: { readonly arms: readonly Compared[]; readonly names: string },
  base: string,
  units: Units,
  margin: string,
): string {
  if (verdict === 'better') return `Better than ${base} by ${apart(arms, units)}: ${names}.`
  if (verdict === 'worse') return `Worse than ${base} by ${apart(arms, units)}: ${names}.`
  if (verdict === 'none')
    return isCorrected(arms)
      ? `No difference found after Holm’s correction, ${sizesOf(arms, units)}: ${names}.`
      : `No difference found, ${sizesOf(arms, units)}: ${names}.`
  if (verdict === 'too few') return `Too few seeds to say: ${names}.`
  return `Equal to ${base} within ${margin}, ${sizesOf(arms, units)}: ${names}.`
}

/** Several arms by what was found of them, better ones first. */
function answerOfMany(study: Study, analysis: Analysis, arms: readonly Compared[], base: string) {
  const units = unitsOf(analysis.metric)
  const parts = VERDICTS.flatMap((verdict) => {
    const own = arms.filter((arm) => arm.verdict === verdict)
    if (own.length === 0) return []
    const names = namesOrCount(
      own.map(({ name }) => name),
      arms.length,
    )
    return [saysOf(verdict, { arms: own, names }, base, units, marginText(study, analysis))]
  })
  return `${parts.join(' ')} ${seedsOf(arms)}.`
}

/** Measures of what a run ends with. */
const ENDS: readonly string[] = ['end', 'last']

function differsText({ measure }: Study, arm: Compared, base: string, units: Units): string {
  const { mean } = arm
  const name = armName(arm.name)
  const size = `${units.bareDifference(Math.abs(mean))}${units.difference}`
  const range = distances(arm, units)
  const seeds = seedsOf([arm])
  if (ENDS.includes(measure.at))
    return mean > 0
      ? `${name} ended ${size} above ${base} [${range}], with ${seeds}.`
      : `${name} ended ${size} below ${base} [${range}], with ${seeds}.`
  return mean > 0
    ? `${name} came out ${size} above ${base} [${range}], with ${seeds}.`
    : `${name} came out ${size} below ${base} [${range}], with ${seeds}.`
}

function answerOfOne(study: Study, analysis: Analysis, arm: Compared, base: string): string {
  const { measure } = study
  const { verdict } = arm
  const name = armName(arm.name)
  const units = unitsOf(analysis.metric)
  const seeds = seedsOf([arm])
  if (verdict === 'equal')
    return `${name} and ${base} are equal within ${marginText(study, analysis)}: ${bareDifference(arm, units)}, with ${seeds}.`
  if (verdict !== 'better' && verdict !== 'worse') {
    const measured = measureWords(analysis.metric ?? measure.metric)
    const size = differenceText(arm, units)
    return isCorrected([arm])
      ? `No difference between ${name} and ${base} was found in ${measured} after Holm’s correction: ${size}, with ${seeds}.`
      : `No difference between ${name} and ${base} was found in ${measured}: ${size}, with ${seeds}.`
  }
  const said = differsText(study, arm, base, units)
  return measure.goal === 'higher' ? said : `${said} Lower is better.`
}

/** The answer in a sentence or two. */
export function answerSentence(study: Study, analysis: Analysis): string {
  const compared = analysis.arms.flatMap(({ arm, comparison }) =>
    comparison ? [{ name: shortName(analysis, arm), ...comparison }] : [],
  )
  if (compared.every(({ verdict }) => verdict === 'too few'))
    return study.seeds.length < FEWEST_PAIRS
      ? `There are too few seeds to answer: every arm needs at least ${FEWEST_PAIRS}.`
      : `No answer yet: it comes when every arm has run with ${FEWEST_PAIRS} seeds.`
  const own = analysis.arms.find(({ arm }) => arm.name === analysis.baseline)
  const base = armName(own ? shortName(analysis, own.arm) : analysis.baseline)
  if (compared.length === 1) return answerOfOne(study, analysis, compared[0], base)
  if (compared.some(({ verdict }) => verdict !== 'none' && verdict !== 'too few'))
    return answerOfMany(study, analysis, compared, base)
  const known = compared.filter(({ verdict }) => verdict === 'none')
  const measured = measureWords(analysis.metric ?? study.measure.metric)
  const sizes = sizesOf(known, unitsOf(analysis.metric))
  return isCorrected(known)
    ? `No difference from ${base} was found in ${measured} after Holm’s correction: ${sizes}, with ${seedsOf(known)}.`
    : `No difference from ${base} was found in ${measured}: ${sizes}, with ${seedsOf(known)}.`
}

/** What the answer was measured by, and how its numbers are to be read; undefined where there is no
 * answer yet. */
export function measuredSentence(
  { measure }: Study,
  { arms, metric }: Analysis,
): string | undefined {
  const verdicts = arms.flatMap(({ comparison }) => comparison?.verdict ?? [])
  const said = verdicts.filter((verdict) => verdict !== 'too few')
  if (said.length === 0) return undefined
  const measured = `Measured: ${measureWords(metric ?? measure.metric)}, ${placeOf(measure)}.`
  // Several arms of one verdict are said by the least and the greatest difference.
  return new Set(said).size < said.length
    ? `${measured} Two numbers with “to” between them are the smallest and the largest difference of several arms, not an interval: each arm has its own in the plot and in the table.`
    : measured
}

/** What a study has found, in a word: an arm that differs, else one that is shown to be equal, else
 * nothing that is decided. */
export type Found = 'differs' | 'equal' | 'undecided'

export function foundOf(verdicts: readonly string[]): Found {
  if (verdicts.some((verdict) => verdict === 'better' || verdict === 'worse')) return 'differs'
  return verdicts.includes('equal') ? 'equal' : 'undecided'
}
