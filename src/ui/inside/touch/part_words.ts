// What switching parts off has cost: the measures that a map shows, a sentence, and a table.

import type { Estimate, PartCost, PartCosts } from '../../../host/protocol/touch.ts'
import { formatNumber } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { differenceText } from '../../shown/run_words.ts'

export interface Measure {
  readonly key: string
  readonly label: string
  /** Undefined where a part has no such number. */
  of(part: PartCost): Estimate | undefined
  readonly unit: string
}

const layerName = (layer: number, last: number): string =>
  layer === 0 ? 'the embedding' : layer === last ? 'the final policy' : `layer ${layer}`

/** The measures that were taken. */
export function measuresOf({ untouched }: PartCosts): Measure[] {
  const last = untouched.entropies.length - 1
  return [
    { key: 'reward', label: 'held-out reward', of: ({ reward }) => reward, unit: '' },
    ...(untouched.log_prob === undefined
      ? []
      : [
          {
            key: 'log_prob',
            label: 'log-prob of the right answer',
            of: ({ log_prob }: PartCost) => log_prob,
            unit: ' nats',
          },
        ]),
    ...untouched.entropies.map((_, l) => ({
      key: `entropy ${l}`,
      label: `entropy of ${layerName(l, last)}`,
      of: ({ entropies }: PartCost) => entropies[l],
      unit: ' nats',
    })),
  ]
}

export function partName({ where, layer, head }: PartCost): string {
  if (where === 'block') return `block ${layer}`
  if (where === 'head') return `head ${(head ?? 0) + 1} of layer ${layer}`
  return `the ${where === 'attention' ? 'attention' : 'feed-forward'} of layer ${layer}`
}

/** A column of the map. */
export const columnName = ({ where, head }: PartCost): string =>
  where === 'head'
    ? `head ${(head ?? 0) + 1}`
    : where === 'feed_forward'
      ? 'feed-forward'
      : where === 'block'
        ? 'whole block'
        : 'attention'

const signed = (value: number): string => differenceText(value, false)

export const estimateText = ({ mean, interval }: Estimate, unit: string): string =>
  `${signed(mean)} ± ${formatNumber(interval)}${unit}`

/** Whether the problems tell the difference from none. */
export const isTold = ({ mean, interval }: Estimate): boolean => Math.abs(mean) > interval

/** The part whose loss is felt most, and how many are not felt. */
export function partsSay({ problems, untouched, parts }: PartCosts): string {
  const told = parts.filter(({ reward }) => isTold(reward))
  const whole = `with everything on, the mean reward of ${problems} held-out problems is ${formatNumber(untouched.reward)}`
  if (told.length === 0)
    return `No part costs a reward that ${problems} problems can show when it is switched off; ${whole}.`
  const smaller = told.filter(({ where }) => where !== 'block')
  const most = (smaller.length > 0 ? smaller : told).reduce((a, b) =>
    b.reward.mean < a.reward.mean ? b : a,
  )
  const silent = parts.length - told.length
  const rest =
    silent === 0
      ? 'every part is felt'
      : `${silent} of ${parts.length} parts make no difference that these problems can show`
  return `Beside whole blocks ${partName(most)} matters most: without it the reward changes by ${estimateText(most.reward, '')}; ${rest}. ${whole.charAt(0).toUpperCase()}${whole.slice(1)}.`
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
