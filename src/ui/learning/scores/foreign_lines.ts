// Lists the held-out means of another trainer's run, which may have evaluated several sets of
// problems.
import { runColor } from '../../../record/run/record.ts'
import { foreignHeldOut, HELD_OUT_MEAN, plainData } from '../../shown/metrics.ts'

/** A held-out mean, and the parts of its name that tell it from the others of its log: '' where it
 * is alone. */
export interface ForeignMean {
  readonly metric: string
  readonly name: string
}

/** Those that a log has. */
export function foreignMeans(metrics: Iterable<string>): readonly ForeignMean[] {
  const all = foreignHeldOut(metrics).flatMap((metric) => {
    const [, data, measure, n] = HELD_OUT_MEAN.exec(metric) ?? []
    return data === undefined ? [] : [{ metric, data, others: [measure, `mean@${n}`] }]
  })
  const sets = new Set(all.map(({ data }) => data))
  const isPlain = new Set([...sets].map(plainData)).size === sets.size
  const found = all.map(({ metric, data, others }) => ({
    metric,
    parts: [isPlain ? plainData(data) : data, ...others],
  }))
  const differs = [0, 1, 2].map((i) => new Set(found.map(({ parts }) => parts[i])).size > 1)
  return found.map(({ metric, parts }) => ({
    metric,
    name: parts.filter((_, i) => differs[i]).join(' '),
  }))
}

/** The first has the look of the held-out line of every chart. */
const FIRST = { color: '--series-2', width: 2, dash: [9, 3] }

/** Their lines on the chart of scores. */
export const foreignLines = (means: readonly ForeignMean[]) =>
  means.map(({ metric, name }, i) => ({
    ...(i === 0 ? FIRST : { ...runColor(i), width: 1.5 }),
    dots: true,
    metric,
    label: name === '' ? 'held-out, mean of answers' : `held-out, “${name}”`,
    short: name === '' ? 'held-out' : `“${name}”`,
    help:
      name === ''
        ? 'Mean over the answers to held-out problems, as the log has it'
        : `Mean over the answers to held-out problems, “${name}”, as the log has it`,
    says: name === '' ? 'the held-out mean of answers' : `the held-out mean of answers, “${name}”,`,
  }))
