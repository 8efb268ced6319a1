// Says in a sentence how the lines of a large chart went, up to the step that the page shows.

import { formatEntropy } from '../../kit/format.ts'
import { between, END_STEPS, endMeans, isClear, isClearEntropy, peakOf } from '../../kit/mean.ts'
import { type Columns, indexAt } from '../../scales/columns.ts'
import { seriesOf } from '../../shown/run.ts'
import { uiStore } from '../../shown/store.ts'

interface Course {
  readonly from: number
  readonly first: number
  readonly to: number
  readonly last: number
  /** The step from which on nothing is finite; undefined where the last value is. */
  readonly lost?: number | undefined
}

/** First and last finite value up to a step; undefined where there are not two. */
export function courseOf(
  columns: Columns | undefined,
  until: number | undefined,
): Course | undefined {
  if (!columns) return undefined
  const { steps, values } = columns
  const end = until === undefined ? columns.length - 1 : indexAt(columns, until)
  let last = end
  while (last > 0 && !Number.isFinite(values[last])) last--
  let first = 0
  while (first < last && !Number.isFinite(values[first])) first++
  if (first >= last) return undefined
  const course = { from: steps[first], first: values[first], to: steps[last], last: values[last] }
  return last < end ? { ...course, lost: steps[last + 1] } : course
}

const shownCourse = (metric: string) => courseOf(seriesOf(metric), uiStore.getState().atStep)

interface Scored {
  readonly metric: string
  readonly label: string
  /** Of a share: how many answers it is of. */
  readonly answers?: number
  /** A step has few answers: where steps are many, means of some at both ends are told. */
  readonly isSampled?: boolean
  /** It is an entropy. */
  readonly isEntropy?: true
}

interface ToldCourse extends Course {
  /** How many steps each of its ends is of. */
  readonly of: number
  /** The same behind its last value. */
  readonly window: string
  /** Its best between them, where it rose clearly to it and then fell. */
  readonly peak: number | undefined
}

function toldCourse({ metric, isSampled, answers }: Scored): ToldCourse | undefined {
  const course = shownCourse(metric)
  if (!course) return undefined
  const values = between(seriesOf(metric), course.from, course.to)
  const ends = isSampled ? endMeans(values) : undefined
  const of = ends ? END_STEPS : 1
  const peak = answers === undefined ? undefined : peakOf(values, { of, answers })
  if (!ends) return { ...course, of, window: '', peak }
  const [first, last] = ends
  return { ...course, first, last, of, window: `, each a mean over ${END_STEPS} steps`, peak }
}

/** Whether a line tells its two ends apart. */
const isTold = ({ answers, isEntropy }: Scored, { first, last, of }: ToldCourse): boolean =>
  isEntropy
    ? isClearEntropy(last - first)
    : answers === undefined || isClear([first, last], of * answers)

interface Words extends ToldCourse {
  readonly was: string
  readonly is: string
  readonly best: string
}

/** 'rose from 77 % to 92 %' */
function moved({ first, last, peak, was, is, best }: Words, behind: string): string {
  if (peak !== undefined) return `rose from ${was} to ${best}, then fell to ${is}${behind}`
  return `${last > first ? 'rose' : 'fell'} from ${was} to ${is}${behind}`
}

/** How the first of these lines that was measured twice went, and where it did not change clearly
 * the first other that did; before it one that rose and fell. '' where nothing was measured
 * twice. */
export function scoreSays(
  lines: readonly Scored[],
  format: (value: number) => string,
  unit = '',
): string {
  const [main, ...others] = lines.flatMap((line) => {
    const course = toldCourse(line)
    if (!course) return []
    const [was, is] = [format(course.first), format(course.last)]
    const best = format(course.peak ?? course.last)
    const isMoved = was !== is && isTold(line, course)
    return [{ ...line, ...course, was, is, best, isTold: best !== is || isMoved }]
  })
  if (!main) return ''
  const { from, to, label, was, is } = main
  const behindOf = ({ window, lost }: ToldCourse) =>
    `${unit}${window}${lost === undefined ? '' : `; since step ${lost} it is not finite`}`
  const behind = behindOf(main)
  if (main.isTold) return `From step ${from} to ${to} ${label} ${moved(main, behind)}.`
  const other = others.find(({ peak }) => peak !== undefined) ?? others.find((line) => line.isTold)
  const meanwhile = other ? ` Meanwhile ${other.label} ${moved(other, behindOf(other))}.` : ''
  return was === is
    ? `From step ${from} to ${to} ${label} stayed at ${is}${behind}.${meanwhile}`
    : `From step ${from} to ${to} ${label} did not change clearly: ${was}${unit}, then ${is}${behind}.${meanwhile}`
}

interface LayerCourse extends Course {
  readonly label: string
}

/** Which of these layers changed most; '' where none was measured twice. */
export function layersSay(
  layers: readonly { readonly metric: string; readonly label: string }[],
): string {
  const courses = layers.flatMap(({ metric, label }) => {
    const course = shownCourse(metric)
    return course ? [{ label, ...course }] : []
  })
  const lost = Math.min(...courses.map(({ lost }) => lost ?? Infinity))
  const since = Number.isFinite(lost) ? ` Since step ${lost} not all of them are finite.` : ''
  return mostChanged(courses) + since
}

/** Of the layer whose policy changed most, what became of its entropy, and of a second one that
 * changed as much; '' of none. */
export function mostChanged(courses: readonly LayerCourse[]): string {
  const size = ({ first, last }: LayerCourse) => Math.abs(last - first)
  const [most, next] = courses.toSorted((a, b) => size(b) - size(a))
  if (!most) return ''
  const { label, from, first, to, last } = most
  const [was, is] = [formatEntropy(first), formatEntropy(last)]
  if (!isClearEntropy(last - first))
    return `From step ${from} to ${to} no layer’s policy changed clearly; ${label} changed most: ${was} nats, then ${is}.`
  if (next && !isClearEntropy(size(most) - size(next)))
    return `From step ${from} to ${to} ${label} and ${next.label} changed most: from ${was} to ${is} and from ${formatEntropy(next.first)} to ${formatEntropy(next.last)} nats.`
  return `From step ${from} to ${to} ${label} changed most: it ${last > first ? 'rose' : 'fell'} from ${was} to ${is} nats.`
}
