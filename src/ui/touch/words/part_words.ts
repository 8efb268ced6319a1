// Says what switching parts off has cost: the measures that a map shows, a sentence, and a table.

import { normalCdf } from '../../../document/study/statistics/power.ts'
import { holm } from '../../../document/study/statistics/resampling.ts'
import type { ChangeCost, Estimate, PartCost, PartCosts } from '../../../host/protocol/touch.ts'
import { theLayer } from '../../glossary/layer_names.ts'
import { formatNumber } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { differenceText } from '../../shown/run_words.ts'

/** Which part. */
export type PartPlace = Pick<PartCost, 'where' | 'layer' | 'head'>

/** What a change does to texts that are read. */
export type Reading = Pick<ChangeCost, 'log_prob' | 'entropies'>

export interface Measure<C extends Reading = ChangeCost> {
  readonly key: string
  readonly label: string
  /** Undefined where a change has no such number. */
  of(cost: C): Estimate | undefined
  readonly unit: string
}

/** The measures that were taken. */
export const measuresOf = ({ untouched }: Pick<PartCosts, 'untouched'>): Measure[] => [
  { key: 'reward', label: 'held-out reward', of: ({ reward }) => reward, unit: '' },
  ...readingMeasures(untouched, 'log-prob of the right answer'),
]

/** Those of texts that are read. */
export function readingMeasures(
  untouched: { readonly log_prob?: number; readonly entropies: readonly number[] },
  label: string,
): Measure<Reading>[] {
  const last = untouched.entropies.length - 1
  return [
    ...(untouched.log_prob === undefined
      ? []
      : [
          {
            key: 'log_prob',
            label,
            of: ({ log_prob }: Reading) => log_prob,
            unit: ' nats',
          },
        ]),
    ...untouched.entropies.map((_, l) => ({
      key: `entropy ${l}`,
      label: `entropy of ${theLayer(l, last)}`,
      of: ({ entropies }: Reading) => entropies[l],
      unit: ' nats',
    })),
  ]
}

export function partName({ where, layer, head }: PartPlace): string {
  if (where === 'block') return `layer ${layer}`
  if (where === 'head') return `head ${(head ?? 0) + 1} of layer ${layer}`
  return `the ${where === 'attention' ? 'attention' : 'feed-forward'} of layer ${layer}`
}

/** A column of the map. */
export const columnName = ({ where, head }: PartPlace): string =>
  where === 'head'
    ? `head ${(head ?? 0) + 1}`
    : where === 'feed_forward'
      ? 'feed-forward'
      : where === 'block'
        ? 'whole layer'
        : 'attention'

const signed = (value: number): string => differenceText(value, false)

export const estimateText = ({ mean, interval }: Estimate, unit: string): string =>
  `${signed(mean)} ± ${formatNumber(interval)}${unit}`

/** Whether the problems tell the difference from none. */
export const isTold = ({ mean, interval }: Estimate): boolean => Math.abs(mean) > interval

/** The standard errors in a 95 % interval, and the p value that such an interval is of. */
const [ERRORS, ALPHA] = [1.96, 0.05]

/** p of a normal test against no difference. */
const pOf = ({ mean, interval }: Estimate): number =>
  mean === 0 ? 1 : 2 * normalCdf((-ERRORS * Math.abs(mean)) / interval)

/** Those of several that differ from none after Holm's correction for all of them: of fifteen
 * intervals of 95 % about one excludes 0 by chance. */
export function toldAmong<T>(
  all: readonly T[],
  of: (one: T) => Estimate | undefined,
): { readonly one: T; readonly found: Estimate }[] {
  const measured = all.flatMap((one) => {
    const found = of(one)
    return found ? [{ one, found }] : []
  })
  const adjusted = holm(measured.map(({ found }) => pOf(found)))
  return measured.filter((_, i) => adjusted[i] < ALPHA)
}

/** Of the parts that the problems tell from none, the one whose loss costs most; blocks are the sum
 * of their parts and come last. */
function mostFelt(parts: readonly PartCost[], measure: Measure) {
  const felt = toldAmong(parts, measure.of)
    .filter(({ found }) => found.mean < 0)
    .map(({ one: part, found }) => ({ part, found }))
  const smaller = felt.filter(({ part }) => part.where !== 'block')
  const all = smaller.length > 0 ? smaller : felt
  if (all.length === 0) return undefined
  return { ...all.reduce((a, b) => (b.found.mean < a.found.mean ? b : a)), count: felt.length }
}

/** The part whose loss costs most reward, or, where none costs any, log-prob of the right answer;
 * and how many parts are not felt. */
export function partsSay(costs: PartCosts): string {
  const { problems, untouched, parts } = costs
  const whole = `With everything on, the mean reward of ${problems} held-out problems is ${formatNumber(untouched.reward)}.`
  for (const measure of measuresOf(costs).filter(({ key }) => !key.startsWith('entropy'))) {
    const most = mostFelt(parts, measure)
    if (!most) continue
    const { part, found, count } = most
    const none = measure.key === 'reward' ? '' : ' No part costs a reward that they can show.'
    return `${whole}${none} Beside whole layers ${partName(part)} matters most: without it the ${measure.label} changes by ${estimateText(found, measure.unit)}. ${count} of ${parts.length} parts cost something that these problems can show, after Holm’s correction for ${parts.length} comparisons.`
  }
  return `${whole} No part costs anything that they can show.`
}

/** The part that is needed most at a step, in a sentence of its own. */
export function mostNeeded(costs: PartCosts, step: number): string {
  for (const measure of measuresOf(costs).filter(({ key }) => !key.startsWith('entropy'))) {
    const most = mostFelt(costs.parts, measure)
    if (!most) continue
    const by = estimateText(most.found, measure.unit)
    return `At step ${step}, beside whole layers, ${partName(most.part)} is needed most: without it the ${measure.label} changes by ${by}.`
  }
  return `At step ${step} no part costs anything that ${costs.problems} held-out problems can show.`
}

/** A row for each part, and the difference and its interval for each measure. */
export function partsTable(costs: PartCosts): NumberTable {
  const measures = measuresOf(costs)
  return {
    columns: [
      'switched off',
      ...measures.flatMap(({ label, unit }) => [`${label}, change${unit && ','}${unit}`, '± 95 %']),
    ],
    rows: costs.parts.map((part) => [
      partName(part),
      ...measures.flatMap((measure) => {
        const found = measure.of(part)
        return found ? [signed(found.mean), formatNumber(found.interval)] : ['', '']
      }),
    ]),
  }
}

/** Parts by block, the last block on top. */
export function gridOf<P extends PartPlace>(parts: readonly P[]): P[][] {
  const layers = [...new Set(parts.map(({ layer }) => layer))].sort((a, b) => b - a)
  return layers.map((layer) => parts.filter((part) => part.layer === layer))
}
