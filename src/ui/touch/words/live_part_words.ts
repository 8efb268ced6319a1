// Turns what each part did at each step into lines over the steps, a few parts at a time.
import type { PartCosts } from '../../../host/protocol/touch.ts'
import { formatNumber } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import type { FigureLine } from '../../plot/still/figure_lines.ts'
import { differenceText } from '../../shown/run_words.ts'
import { type Measure, type PartPlace, partName } from './part_words.ts'

export interface StepCosts {
  readonly step: number
  readonly costs: PartCosts
}

/** Parts that are drawn together. */
export interface PartGroup {
  readonly key: string
  readonly label: string
  holds(part: PartPlace): boolean
}

const KINDS = [
  { where: 'block', label: 'whole layers' },
  { where: 'attention', label: 'attention' },
  { where: 'feed_forward', label: 'feed-forward' },
] as const

/** Those of one kind, and the heads of each layer. */
export function partGroups(parts: readonly PartPlace[]): PartGroup[] {
  const layers = [...new Set(parts.map(({ layer }) => layer))]
  return [
    ...KINDS.map(({ where, label }) => ({
      key: where,
      label,
      holds: (part: PartPlace) => part.where === where,
    })),
    ...layers.map((of) => ({
      key: `heads ${of}`,
      label: `heads of layer ${of}`,
      holds: ({ where, layer }: PartPlace) => where === 'head' && layer === of,
    })),
  ]
}

/** A line for each part of the group, with its 95 % interval. */
export function partLines(
  items: readonly StepCosts[],
  group: PartGroup,
  measure: Measure,
  look: (i: number) => Pick<FigureLine, 'color' | 'dash'>,
): FigureLine[] {
  const [first] = items
  if (!first) return []
  const at = items.map(({ step }) => step)
  return first.costs.parts.flatMap((part, i): FigureLine[] => {
    if (!group.holds(part)) return []
    const found = items.map(({ costs }) => measure.of(costs.parts[i]))
    const value = (of: (mean: number, interval: number) => number) =>
      found.map((one) => (one ? of(one.mean, one.interval) : Number.NaN))
    return [
      {
        key: partName(part),
        label: partName(part),
        ...look(first.costs.parts.slice(0, i).filter(group.holds).length),
        at,
        middle: value((mean) => mean),
        low: value((mean, interval) => mean - interval),
        high: value((mean, interval) => mean + interval),
        length: at.length,
      },
    ]
  })
}

/** A row for each step, and the change and its interval for each part of the group. */
export function partStepsTable(
  items: readonly StepCosts[],
  group: PartGroup,
  measure: Measure,
): NumberTable {
  const parts = items[0]?.costs.parts ?? []
  const shown = parts.flatMap((part, i) => (group.holds(part) ? [{ part, i }] : []))
  return {
    columns: ['step', ...shown.flatMap(({ part }) => [`without ${partName(part)}`, '± 95 %'])],
    rows: items.map(({ step, costs }) => [
      `${step}`,
      ...shown.flatMap(({ i }) => {
        const found = measure.of(costs.parts[i])
        return found ? [differenceText(found.mean, false), formatNumber(found.interval)] : ['', '']
      }),
    ]),
  }
}
