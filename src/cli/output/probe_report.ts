// Builds the report that `lab probe` prints: every quantity by name, per row and position, and its
// means over tokens.
import {
  type Internals,
  maskOf,
  QUANTITIES,
  type Quantity,
  type ReportedQuantity,
  tokenMeans,
} from '../../model/internals/internal_quantities.ts'

/** What the command prints, by name: numbers of padding are null, or left out for logits' last
 * axis. */
export type ProbeReport = Readonly<Record<string, unknown>>

/** Every quantity under the name of Hugging Face's array. */
export function perPosition(result: Internals<ReportedQuantity>): ProbeReport {
  const { rows, columns } = result
  const named = Object.entries(result.values).map(([name, values]) => {
    const kind = QUANTITIES[name as Quantity]
    const mask = maskOf(result, name as Quantity)
    const each = values.length / (rows * columns)
    if (kind === 'logits') {
      const row = (i: number) => rounded(values.subarray(i * each, (i + 1) * each))
      return [name, grid(rows, columns, (i) => (mask[i] ? row(i) : null))]
    }
    // A log-probability belongs to a column that has a next one.
    const shown = mask === result.nextMask ? columns - 1 : columns
    const entries = Array.from({ length: each }, (_, entry) => {
      const at = rounded(values.subarray(entry * rows * columns, (entry + 1) * rows * columns))
      return grid(rows, columns, (i) => (mask[i] ? at[i] : null), shown)
    })
    return [name, kind === 'pairs' ? square(entries) : entries]
  })
  const all: Record<string, unknown> = Object.fromEntries(named)
  const { logits, ...others } = all
  const final = (all.logp_next_layer_norm as unknown[]).at(-1)
  return { logits, logp_next: final, ...others }
}

/** Means over all tokens of all rows. */
export function forwardMeans(result: Internals<ReportedQuantity>): ProbeReport {
  const means = tokenMeans(result)
  const logProb = means.logp_next_layer_norm?.at(-1)
  const named = Object.entries(means).map(([name, mean]) => {
    const isPairs = QUANTITIES[name as Quantity] === 'pairs'
    return [name, { mean_all: isPairs ? square([...mean]) : [...mean] }]
  })
  return {
    ...Object.fromEntries(named),
    // A single token predicts nothing that is known.
    ...(logProb === undefined ? {} : { perplexity_all: Math.exp(-logProb) }),
  }
}

/** [rows][shown], from the values of [rows][columns]. */
export const grid = <T>(
  rows: number,
  columns: number,
  value: (i: number) => T,
  shown = columns,
): T[][] =>
  Array.from({ length: rows }, (_, row) =>
    Array.from({ length: shown }, (_, column) => value(row * columns + column)),
  )

/** [n²] to [n][n]. */
function square<T>(list: readonly T[]): T[][] {
  const n = Math.sqrt(list.length)
  return Array.from({ length: n }, (_, i) => list.slice(i * n, (i + 1) * n))
}

/** The shortest decimals that are still the same float32. */
export const rounded = (x: Float32Array): number[] =>
  Array.from(x, (value) => Number(value.toPrecision(9)))

/** JSON with one line per name, so that a person finds their way. */
export function reportText(report: ProbeReport): string {
  const lines = Object.entries(report).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  )
  return `{\n${lines.join(',\n')}\n}`
}

/** KL(untouched ‖ changed) of the final policy at every token, [rows][columns] in nats, and null at
 * padding. Both results hold logits. */
export function klUntouched(
  untouched: Internals<ReportedQuantity>,
  changed: Internals<ReportedQuantity>,
): (number | null)[][] {
  const { rows, columns, mask, values } = changed
  const V = values.logits.length / (rows * columns)
  const policy = (of: Internals<ReportedQuantity>, i: number) =>
    logPolicy(of.values.logits.subarray(i * V, (i + 1) * V))
  return grid(rows, columns, (i) => {
    if (!mask[i]) return null
    const [p, q] = [policy(untouched, i), policy(changed, i)]
    return p.reduce((sum, lp, v) => sum + Math.exp(lp) * (lp - q[v]), 0)
  })
}

function logPolicy(logits: Float32Array): Float64Array {
  const most = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const lse = most + Math.log(logits.reduce((sum, z) => sum + Math.exp(z - most), 0))
  return Float64Array.from(logits, (z) => z - lse)
}
