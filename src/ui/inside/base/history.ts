// Turns everything that was kept into lines over the steps, and metrics into pass@k.

import type { Series } from '../../../host/columns/series.ts'
import type { Observation } from '../../../host/protocol/observation.ts'
import type { LabState } from '../../../page/state/store.ts'
import { type Columns, indexAt } from '../../scales/columns.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { shownStore } from '../../shown/shown.ts'
import { holds, type ObservedQuantity, type Seen } from './observed.ts'

/** The raw policies of all layers are metrics, too, and those are of every step. */
export const hasCourse = ({ series }: LabState): boolean => series.has(layerEntropy(0))

/** One value of each kept step that has it. */
export function columnsOfKept(
  items: readonly Seen[],
  measure: (observation: Observation) => number | undefined,
): Columns {
  const steps: number[] = []
  const values: number[] = []
  for (const { step, item } of items) {
    const value = measure(item)
    if (value === undefined) continue
    steps.push(step)
    values.push(value)
  }
  return { steps, values, length: steps.length }
}

/** Those that are of the same tokens as most: before a first step the states of held-out answers
 * are read, and a mean over other tokens is no earlier value of the same thing. */
export function comparable(items: readonly Seen[]): readonly Seen[] {
  const kinds = new Map<Observation['rows'], Seen[]>()
  for (const one of items) kinds.set(one.item.rows, [...(kinds.get(one.item.rows) ?? []), one])
  return [...kinds.values()].reduce((most, of) => (of.length >= most.length ? of : most), [])
}

/** Whether only one moment has these and can be drawn: over the steps it would say nothing. */
export const isOneMoment = (
  items: readonly Seen[],
  quantities: readonly ObservedQuantity[],
): boolean => comparable(items.filter(({ item }) => holds(item, quantities))).length === 1

/** Computes from what is kept of the shown run and can be compared, and again only when that has
 * changed. */
export function ofKept<T>(compute: (items: readonly Seen[]) => T): () => T {
  let known: { readonly kept: object; readonly version: number; readonly value: T } | undefined
  return () => {
    const { kept, keptVersion } = shownStore.getState()
    if (known?.kept !== kept || known.version !== keptVersion)
      known = { kept, version: keptVersion, value: compute(comparable(kept.observations.items)) }
    return known.value
  }
}

/** exp(−mean log-probability of the next token) under the model's own policy, on its own responses
 * (paper, figure 5c). */
export function perplexity({ mean, num_hidden_layers }: Observation): number | undefined {
  const logp = mean.logp_next_layer_norm?.[num_hidden_layers]
  return logp === undefined ? undefined : Math.exp(-logp)
}

/** H(H^k) − H(H^{k−1}), nats (paper, figure 5b); undefined for the embedding, which nothing comes
 * before. */
export const layerChange = ({ mean }: Observation, k: number): number | undefined =>
  k === 0 ? undefined : mean.dH_layer?.[k - 1]

/** KL(π_k ‖ π_j) of every j = 0…L over the steps that were measured from this k (paper, figure 5d),
 * nats. */
export function divergences(items: readonly Seen[], k: number, layers: number): Columns[] {
  const ofK = items.filter(({ item }) => item.layer === k && item.mean.kl_of_layer !== undefined)
  return Array.from({ length: layers + 1 }, (_, j) =>
    columnsOfKept(ofK, ({ mean }) => mean.kl_of_layer?.[j]),
  )
}

/** At most `count` items (at least 2) at even distances in steps, with the first and the last. */
export function spread(items: readonly Seen[], count: number): readonly Seen[] {
  if (items.length <= count) return items
  const [first, last] = [items[0].step, items[items.length - 1].step]
  const chosen = Array.from({ length: count }, (_, i) => {
    const wanted = first + (i / (count - 1)) * (last - first)
    return items.reduce((best, one) =>
      Math.abs(one.step - wanted) < Math.abs(best.step - wanted) ? one : best,
    )
  })
  return [...new Set([...chosen.slice(0, -1), items[items.length - 1]])]
}

export interface PassPoint {
  readonly k: number
  /** Share of problems that at least one of k samples solves. */
  readonly value: number
  readonly step: number
}

const PASS = /^val-aux\/(.+)\/pass@(\d+)\/mean$/

/** A task's measured pass@k by k, each the newest at or before a step; without one, the newest of
 * all (paper, figure 6). */
export function passAtK(
  series: ReadonlyMap<string, Series>,
  taskId: string,
  step: number | undefined,
): PassPoint[] {
  const points: PassPoint[] = []
  for (const [name, columns] of series) {
    const [, task, k] = PASS.exec(name) ?? []
    if (task !== taskId) continue
    const index = step === undefined ? columns.length - 1 : indexAt(columns, step)
    if (index < 0 || !Number.isFinite(columns.values[index])) continue
    points.push({ k: Number(k), value: columns.values[index], step: columns.steps[index] })
  }
  return points.sort((a, b) => a.k - b.k)
}

/** The first step with a pass@k of this task. */
export function firstPass(series: ReadonlyMap<string, Series>, taskId: string): number | undefined {
  let first: number | undefined
  for (const [name, columns] of series)
    if (PASS.exec(name)?.[1] === taskId && columns.length > 0)
      first = Math.min(first ?? columns.steps[0], columns.steps[0])
  return first
}

export interface PassCurve {
  readonly name: 'first' | 'shown' | 'now'
  /** Of its newest point. */
  readonly step: number
  readonly points: readonly PassPoint[]
}

/** The first measurement, the one at the step that is looked back to, and the newest; of the same
 * step only one. */
export function passCurves(
  series: ReadonlyMap<string, Series>,
  taskId: string,
  atStep: number | undefined,
): PassCurve[] {
  const wanted = [
    ['first', firstPass(series, taskId)],
    ...(atStep === undefined ? [] : [['shown', atStep] as const]),
    ['now', undefined],
  ] as const
  const curves: PassCurve[] = []
  for (const [name, until] of wanted) {
    const points = passAtK(series, taskId, until)
    const step = Math.max(...points.map((point) => point.step))
    if (points.length > 0 && curves.at(-1)?.step !== step) curves.push({ name, step, points })
  }
  return curves
}
