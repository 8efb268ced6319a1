// Says in a sentence how the lines of a large chart went, up to the step that the page shows.

import { formatEntropy } from '../../kit/format.ts'
import { isClear, isClearEntropy } from '../../kit/mean.ts'
import { type Columns, indexAt } from '../../scales/columns.ts'
import { seriesOf } from '../../shown/run.ts'
import { uiStore } from '../../shown/store.ts'

interface Course {
  readonly from: number
  readonly first: number
  readonly to: number
  readonly last: number
}

/** First and last finite value up to a step; undefined where there are not two. */
export function courseOf(
  columns: Columns | undefined,
  until: number | undefined,
): Course | undefined {
  if (!columns) return undefined
  const { steps, values } = columns
  let last = until === undefined ? columns.length - 1 : indexAt(columns, until)
  while (last > 0 && !Number.isFinite(values[last])) last--
  let first = 0
  while (first < last && !Number.isFinite(values[first])) first++
  if (first >= last) return undefined
  return { from: steps[first], first: values[first], to: steps[last], last: values[last] }
}

const shownCourse = (metric: string) => courseOf(seriesOf(metric), uiStore.getState().atStep)

interface Scored {
  readonly metric: string
  readonly label: string
  /** Of a share: how many answers it is of. */
  readonly answers?: number
  /** It is an entropy. */
  readonly isEntropy?: true
}

/** Whether a line tells its two ends apart. */
const isTold = ({ answers, isEntropy }: Scored, first: number, last: number): boolean =>
  isEntropy
    ? isClearEntropy(last - first)
    : answers === undefined || isClear([first, last], answers)

/** '' where nothing was measured twice. */
export function scoreSays(
  lines: readonly Scored[],
  format: (value: number) => string,
  unit = '',
): string {
  for (const line of lines) {
    const { metric, label } = line
    const course = shownCourse(metric)
    if (!course) continue
    const { from, first, to, last } = course
    const [was, is] = [format(first), format(last)]
    if (was !== is && !isTold(line, first, last))
      return `From step ${from} to ${to} ${label} did not change clearly: ${was}${unit}, then ${is}${unit}.`
    const moved =
      was === is
        ? `stayed at ${is}${unit}`
        : `${last > first ? 'rose' : 'fell'} from ${was} to ${is}${unit}`
    return `From step ${from} to ${to} ${label} ${moved}.`
  }
  return ''
}

/** Which of these layers changed most; '' where none was measured twice. */
export function layersSay(
  layers: readonly { readonly metric: string; readonly label: string }[],
): string {
  const courses = layers.flatMap(({ metric, label }) => {
    const course = shownCourse(metric)
    return course ? [{ label, ...course, by: Math.abs(course.last - course.first) }] : []
  })
  if (courses.length === 0) return ''
  const most = courses.reduce((best, other) => (other.by > best.by ? other : best))
  return mostChanged(most)
}

/** Of the layer whose policy changed most, what became of its entropy. */
export function mostChanged(course: Course & { readonly label: string }): string {
  const { label, from, first, to, last } = course
  const [was, is] = [formatEntropy(first), formatEntropy(last)]
  if (!isClearEntropy(last - first))
    return `From step ${from} to ${to} no layer’s policy changed clearly; ${label} changed most: ${was} nats, then ${is}.`
  return `From step ${from} to ${to} ${label} changed most: it ${last > first ? 'rose' : 'fell'} from ${was} to ${is} nats.`
}
