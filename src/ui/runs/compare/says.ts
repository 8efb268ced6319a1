// Says in a short sentence what the compared runs came to, and apart from it what supports that.
import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import {
  FEWEST_PAIRS,
  type Interval,
  tInterval,
} from '../../../document/study/statistics/student.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { differenceInterval } from '../../../record/compare/statistics.ts'
import type { RunHeader } from '../../../record/run/record.ts'
import { formatSteps } from '../../kit/format.ts'
import { differenceError, isClear, mean } from '../../kit/mean.ts'
import { calledName } from '../../shown/names/called.ts'
import { differenceText, numberText } from '../../shown/run_words.ts'
import { choiceLabel, comparedChoices, isOneMeasure } from '../base/choices.ts'
import { comparedNumber, isShare } from '../base/columns.ts'
import type { Compared } from '../base/compared.ts'
import { endedLines, isOneTask } from '../base/ends.ts'
import { pairedRuns } from '../base/paired.ts'
import { type ColumnsOf, overCommonSteps } from './common_steps.ts'

/** A line of the panels and the mean of its runs' last values. */
interface Ended {
  readonly group: Compared
  readonly label: string
  readonly value: number
  /** Of its runs. */
  readonly values: readonly number[]
}

/** Of these more is better. */
const ACCURACIES = ['main', 'greedy', 'sampled']
const SCORES = [...ACCURACIES, 'score']

function ended(groups: readonly Compared[], choice: string): readonly Ended[] {
  return groups.flatMap((group) => {
    const { label, entries } = group
    const values = entries.map((entry) => comparedNumber(entry, choice))
    const known = values.filter((x): x is number => x !== undefined && Number.isFinite(x))
    return known.length > 0 ? [{ group, label, value: mean(known), values: known }] : []
  })
}

/** ' They took 12 to 45 steps; with all of them they end so: …'; '' where all took as many. */
function budgetSays(groups: readonly Compared[], choice: string, inShares: boolean): string {
  const steps = groups.flatMap(({ entries }) => entries.map(({ header }) => header.step))
  const [least, most] = [Math.min(...steps), Math.max(...steps)]
  if (least === most) return ''
  const ends = ended(groups, choice).map(
    ({ label, value }) => `“${label}” at ${numberText(value, inShares)}`,
  )
  return ` They took ${least} to ${formatSteps(most)}; with all of them they end so: ${ends.join(', ')}.`
}

const entriesOf = (groups: readonly Compared[]) => groups.flatMap(({ entries }) => entries)

const labelOf = (choice: string, groups: readonly Compared[]): string =>
  choiceLabel(choice, entriesOf(groups))

const choicesOf = (groups: readonly Compared[]) => comparedChoices(entriesOf(groups))

/** How far one line ends above another, for every seed that both have. */
const differencesOf = (first: Ended, last: Ended, choice: string): readonly number[] =>
  pairedRuns(last.group.entries, first.group.entries, (entry) =>
    comparedNumber(entry, choice),
  ).pairs.map(({ difference }) => difference)

/** The 95 % interval of how far one line ends above another: of the differences by seed, where
 * enough seeds are paired, else of two means. */
function intervalOf(first: Ended, last: Ended, choice: string): Interval | undefined {
  const pairs = differencesOf(first, last, choice)
  if (pairs.length >= FEWEST_PAIRS) return tInterval(pairs)
  return differenceInterval(last.values, first.values)
}

/** Whether the difference of two lines can be told from that of their seeds; undefined with fewer
 * than FEWEST_PAIRS, which say nothing of it, as in a study. */
function isFarApart(first: Ended, last: Ended, choice: string): boolean | undefined {
  if (Math.min(first.values.length, last.values.length) < FEWEST_PAIRS) return undefined
  const interval = intervalOf(first, last, choice)
  return interval !== undefined && (interval.low > 0 || interval.high < 0)
}

/** ' But it ends 16.4 points below in …, sampled.': the scores that clearly say the opposite. */
function againstSays(first: Compared, last: Compared, choice: string): string {
  if (!SCORES.includes(choice)) return ''
  const [one, two] = SCORES.filter((other) => other !== choice).flatMap((other) => {
    const [a, b] = ended([first, last], other)
    if (!a || !b || !(a.value < b.value) || !isFarApart(b, a, other)) return []
    const entries = [...first.entries, ...last.entries]
    if (!isOneMeasure(other, entries)) return []
    const inShares = isShare(other, entries)
    const size = differenceText(b.value - a.value, inShares).replace('+', '')
    return [{ size, label: labelOf(other, [first, last]) }]
  })
  if (!one) return ''
  return two
    ? ` But it ends ${one.size} below in ${one.label}, and ${two.size} below in ${two.label}.`
    : ` But it ends ${one.size} below in ${one.label}.`
}

/** Held-out problems that every evaluation of a run answered; undefined where its task's rows are
 * not here. */
function problemsOf({ experiment }: RunHeader): number | undefined {
  try {
    return Math.min(experiment.validation.prompts, taskOf(experiment.task).test_size)
  } catch {
    return undefined
  }
}

/** How many held-out problems both runs answered; undefined where a difference of theirs is none of
 * two shares of them. */
function problemsOfBoth(first: Ended, last: Ended, choice: string): number | undefined {
  const runs = [first, last].flatMap(({ group }) => group.entries)
  if (!ACCURACIES.includes(choice) || runs.length > 2 || !isShare(choice, runs)) return undefined
  if (runs.some(({ header }) => header.source)) return undefined
  return Math.min(...runs.map(({ header }) => problemsOf(header) ?? 0)) || undefined
}

export interface Said {
  /** The verdict. */
  readonly says: string
  /** Its numbers, and what they can and cannot show; '' where there is no more to say. */
  readonly more: string
}

interface Apart {
  readonly size: number
  /** The measure, and by which seeds. */
  readonly measure: string
  /** That it is no difference of the two means, and why; '' where it is. */
  readonly why: string
}

/** How far one line ends above another: by the seeds that both have, as the table of differences
 * says it; where they have none in common, by their means. */
function apartBy(first: Ended, last: Ended, choice: string): Apart {
  const measure = labelOf(choice, [first.group, last.group])
  const pairs = differencesOf(first, last, choice)
  const counts = [first, last].map(({ values }) => values.length)
  if (pairs.length === 0) return { size: first.value - last.value, measure, why: '' }
  const size = mean(pairs)
  if (counts.every((count) => count === pairs.length)) return { size, measure, why: '' }
  const seeds = pairs.length === 1 ? 'the seed' : `the ${pairs.length} seeds`
  return {
    size,
    measure: `${measure}, paired by ${seeds} that both have`,
    why: ` These are means of ${counts[0]} and ${counts[1]} runs; only ${seeds} that both have can be paired.`,
  }
}

/** How far the highest and the lowest are apart, and what chance and other scores say of it. */
function apartSays(first: Ended, last: Ended, choice: string, inShares: boolean): Said {
  const label = labelOf(choice, [first.group, last.group])
  const [high, low] = [first, last].map(({ value }) => numberText(value, inShares))
  if (first.value === last.value) return { says: `They end alike in ${label}: ${high}.`, more: '' }
  const { size, measure, why } = apartBy(first, last, choice)
  // By the seeds that both have, the lower mean is the higher line.
  if (size < 0) return apartSays(last, first, choice, inShares)
  const ends = `“${first.label}” and “${last.label}” end at ${high} and ${low}.`
  const sizeText = (size: number) => differenceText(size, inShares).replace('+', '')
  const shares = [last.value, first.value]
  const problems = problemsOfBoth(first, last, choice)
  const chance =
    problems === undefined
      ? ''
      : ` With ${problems} problems, the standard error of this difference is at most ${sizeText(differenceError(shares, problems))}.`
  const behind = `${why}${chance}`
  const isFar = isFarApart(first, last, choice)
  if (isFar === false || (problems !== undefined && !isClear(shares, problems)))
    return { says: `No clear difference in ${label}.`, more: `${ends}${behind}` }
  const apart = sizeText(size)
  if (isFar === undefined)
    return {
      says: `“${first.label}” ends ${apart} above “${last.label}” in ${measure}; too few seeds to say more.`,
      more: `${ends}${behind} Fewer than ${FEWEST_PAIRS} seeds each are too few to say which is better.`,
    }
  const above = `“${first.label}” ends ${apart} above “${last.label}” in ${measure}.`
  const against = againstSays(first.group, last.group, choice)
  return { says: `${above}${against}`, more: `${ends}${why}` }
}

/** ' In …, sampled, “C” is highest and “D” lowest: 78.9 % and 47.7 %.', where the order of greedy
 * answers is another; '' where it says the same. */
function sampledSays(groups: readonly Compared[], [first, last]: readonly Ended[]): string {
  const values = ended(groups, 'sampled').toSorted((a, b) => b.value - a.value)
  const [high, low] = [values[0], values.at(-1)]
  if (!high || !low || high.value === low.value) return ''
  if (high.label === first.label && low.label === last.label) return ''
  const entries = groups.flatMap((group) => group.entries)
  if (!isOneMeasure('sampled', entries)) return ''
  const inShares = isShare('sampled', entries)
  const [most, least] = [high, low].map(({ value }) => numberText(value, inShares))
  return ` In ${labelOf('sampled', groups)}, “${high.label}” is highest and “${low.label}” lowest: ${most} and ${least}.`
}

/** Of logs that do not say what their scores are. */
const UNRANKED =
  'Not ranked: their logs do not say that their scores measure the same, as a sum of rewards and the score of a reward model do not.'

/** ' Without such a number: “C”.'; '' where all lines have one. */
function lacksSays(groups: readonly Compared[], having: readonly Compared[]): string {
  const lacking = groups.filter((group) => !having.includes(group)).map(({ label }) => `“${label}”`)
  if (lacking.length === 0) return ''
  return ` Without such a number: ${lacking.join(', ')}.`
}

/** '“B” ends 28.1 points above “A” …', of the first measure that two lines have, over the steps
 * that all of those took; undefined where there is none. */
function endsSay(all: readonly Compared[], columnsOf: ColumnsOf): Said | undefined {
  for (const { key } of choicesOf(all)) {
    const whole = ended(all, key).map(({ group }) => group)
    if (whole.length < 2) continue
    if (!isOneMeasure(key, entriesOf(whole))) return { says: UNRANKED, more: '' }
    const common = overCommonSteps(whole, columnsOf)
    const groups = common?.groups ?? whole
    const values = ended(groups, key).toSorted((a, b) => b.value - a.value)
    const [first, last] = [values[0], values.at(-1)]
    // What one of them measured came after the other's end.
    if (values.length < 2 || !first || !last) continue
    const alone = groups.every(({ entries }) => entries.length === 1) ? ' One run each.' : ''
    const inShares = isShare(key, entriesOf(groups))
    const { says, more } = apartSays(first, last, key, inShares)
    const isSaid = key !== 'greedy' || says.includes(labelOf('sampled', groups))
    const sampled = isSaid ? '' : sampledSays(groups, [first, last])
    const budget = `${budgetSays(whole, key, inShares)}${lacksSays(all, whole)}`
    const said = common ? `Over the first ${formatSteps(common.step)}: ${says}` : says
    return { says: said, more: `${more}${sampled}${budget}${alone}`.trim() }
  }
  return undefined
}

/** '“seed 2” still trains and is left out.'; '' where all are over. */
function leftOutSays(unfinished: readonly RunEntry[]): string {
  const [first, ...others] = unfinished
  if (!first) return ''
  if (others.length > 0) return `${unfinished.length} runs are not finished and are left out.`
  const name = calledName(first)
  const { status } = first.header
  if (status === 'running') return `“${name}” still trains and is left out.`
  if (status === 'paused') return `“${name}” is paused and is left out.`
  return `“${name}” ended before its last step and is left out.`
}

/** The verdict on what is drawn: of runs that are over and learn the same task. Undefined where
 * nothing can be said of several runs. `columnsOf`: what was read of a run. */
export function compareSays(
  groups: readonly Compared[],
  columnsOf: ColumnsOf = () => undefined,
): Said | undefined {
  if (groups.length < 2) return undefined
  if (!isOneTask(groups))
    return { says: 'They learn different tasks; their scores are not comparable.', more: '' }
  const { ended: over, unfinished } = endedLines(groups)
  const leftOut = leftOutSays(unfinished)
  const said = endsSay(over, columnsOf)
  if (leftOut === '') return said
  return { says: said ? `${said.says} ${leftOut}` : leftOut, more: said?.more ?? '' }
}
