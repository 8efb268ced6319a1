// Computes hashes of a run: of the document that its link holds, and of its curves. The same
// experiment on the same adapter has the same bits, so it has the same hashes.
import { shortHash } from '../../document/course/course.ts'
import { decodeLink } from '../../document/links/link.ts'
import type { MetricColumns } from '../files/metrics_file.ts'

/** Measured in every step of their phase, whatever the page shows; none is a time. */
const CURVES = [
  'train/loss',
  'train/grad_norm',
  'reward_model/loss',
  'preference/loss',
  'distillation/loss',
  'critic/score/mean',
  'response_length/mean',
  'actor/entropy',
  'actor/pg_loss',
  'actor/grad_norm',
]

/** Of the values of steps 1 to `last`, as float32. */
export function curvesHash(series: MetricColumns, last: number): string {
  const lines = CURVES.flatMap((name) => {
    const column = series.get(name)
    if (!column) return []
    const rows: (number | null)[] = []
    for (let i = 0; i < column.length; i++) {
      const [step, value] = [column.steps[i], column.values[i]]
      // What is not finite is null in a file of metrics.
      if (step >= 1 && step <= last)
        rows.push(step, Number.isFinite(value) ? Math.fround(value) : null)
    }
    return rows.length > 0 ? [JSON.stringify([name, rows])] : []
  })
  return shortHash(lines.join('\n'))
}

/** Of the experiment that a link opens in this version of the lab. */
export const documentHash = (link: string): string =>
  shortHash(JSON.stringify(decodeLink(link).experiment))
