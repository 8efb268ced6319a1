// Puts gaps into columns where steps were not measured, for lines that would cross them.
import type { Columns } from '../../scales/columns.ts'

interface Gapped extends Columns {
  readonly steps: number[]
  readonly values: number[]
  length: number
}

const known = new WeakMap<Columns, { readonly gapped: Gapped; read: number }>()

/** Whether no two rows follow one another, so that all of the line is dots. */
export function isDotted(columns: Columns | undefined): boolean {
  if (!columns || columns.length === 0) return false
  const { values, length } = withGaps(columns)
  for (let i = 1; i < length; i++)
    if (!Number.isNaN(values[i - 1]) && !Number.isNaN(values[i])) return false
  return true
}

/** The same rows, with a NaN between two whose steps do not follow one another. Of thinned columns
 * the rows of neighbouring buckets do. Each row is read once while columns grow, and the same
 * object is returned. */
export function withGaps(columns: Columns): Columns {
  let found = known.get(columns)
  if (!found) {
    found = { gapped: { steps: [], values: [], length: 0 }, read: 0 }
    known.set(columns, found)
  }
  const { gapped } = found
  const { steps, values, thinned } = columns
  for (; found.read < columns.length; found.read++) {
    const [before, step] = [steps[found.read - 1], steps[found.read]]
    const reach = thinned && before <= thinned.until ? 2 * thinned.every : 1
    if (step - before > reach) {
      gapped.steps.push((before + step) / 2)
      gapped.values.push(Number.NaN)
    }
    gapped.steps.push(step)
    gapped.values.push(values[found.read])
  }
  gapped.length = gapped.steps.length
  return gapped
}
