// Finds the kept observation that a figure shows, and says how old it is.

import type {
  Observation,
  ObservedGroup,
  ObservedValues,
} from '../../../host/protocol/observation.ts'
import type { Kept, KeptItem } from '../../../record/run/kept.ts'
import { formatCount, formatNumber } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'

export type ObservedQuantity = keyof ObservedValues
export type Seen = KeptItem<Observation>

/** Whether an observation holds all of these. */
export const holds = ({ mean }: Observation, quantities: readonly ObservedQuantity[]): boolean =>
  quantities.every((quantity) => mean[quantity] !== undefined)

/** The newest observation at or before a step (without one, of all) that holds what a figure
 * draws. */
export function observedAt(
  kept: Kept<Observation>,
  step: number | undefined,
  quantities: readonly ObservedQuantity[],
): Seen | undefined {
  const newest = kept.at(step)
  if (!newest) return undefined
  const { items } = kept
  for (let i = items.lastIndexOf(newest); i >= 0; i--)
    if (holds(items[i].item, quantities)) return items[i]
  return undefined
}

/** The first step that was observed with these; undefined where there is none. */
export const firstObserved = (
  kept: Kept<Observation>,
  quantities: readonly ObservedQuantity[],
): number | undefined => kept.items.find(({ item }) => holds(item, quantities))?.step

/** Which step is shown, and why it is not the one that was asked for. */
export function stepWords(seen: number, atStep: number | undefined): string {
  if (atStep === undefined) return `Step ${seen}, the newest observed.`
  return seen === atStep
    ? `Step ${seen}.`
    : `Step ${seen}: this was not measured at step ${atStep}.`
}

/** Whether a figure shows another measurement than the run's own: of held-out answers, where other
 * steps are of what was trained on. */
export const isOtherBasis = ({ step, item }: Seen, { items }: Kept<Observation>): boolean =>
  step > 0 &&
  item.rows === 'held_out' &&
  items.some(({ item: { rows } }) => rows !== undefined && rows !== 'held_out')

/** How many tokens the numbers are means over. */
export const tokensWords = ({ tokens }: Observation): string =>
  `Means over ${formatCount(tokens)} tokens.`

/** Why these groups could not be measured, as the newest observation at or before a step says;
 * undefined where it does not. */
export function refusedWords(
  kept: Kept<Observation>,
  step: number | undefined,
  groups: readonly ObservedGroup[],
): string | undefined {
  const own = kept
    .at(step)
    ?.item.refused?.split('\n')
    .filter((line) => groups.some((group) => line.startsWith(`${group}:`)))
  return own?.length ? `This could not be measured. ${own.join(' ')}` : undefined
}

export interface Nothing {
  /** A past run, which can only be read. */
  readonly isPast: boolean
  /** Which step comes next, where a run is on (next_observed.ts). */
  readonly next: string | undefined
  readonly atStep: number | undefined
  /** The first step that was observed. */
  readonly first: number | undefined
}

/** Why a figure is empty, and what to do about it. */
export function emptyWords({ isPast, next, atStep, first }: Nothing): string {
  if (first !== undefined && atStep !== undefined)
    return `Step ${atStep} was not observed. The first observed step is ${first}.`
  if (isPast)
    return 'This run kept no numbers for this figure. Where a state of it is kept, “Look now” measures them.'
  return next === undefined ? 'Nothing was observed yet.' : `Not measured yet. ${next}`
}

const GROUPS: Readonly<Record<ObservedGroup, { readonly label: string }>> = {
  entropy: { label: 'entropy' },
  flow: { label: 'flow' },
  cosines: { label: 'cosines' },
  similarity: { label: 'similarity' },
}

/** What the probes of some groups cost, in milliseconds; undefined where none was timed. */
export function costWords(
  { cost_ms }: Observation,
  groups: readonly ObservedGroup[],
): string | undefined {
  const timed = groups.flatMap((group) => {
    const ms = cost_ms[group]
    return ms === undefined ? [] : [{ group, ms }]
  })
  if (timed.length === 0) return undefined
  const all = `${formatNumber(timed.reduce((sum, { ms }) => sum + ms, 0))} ms`
  if (timed.length === 1) return all
  return `${all} (${timed.map(({ group, ms }) => `${t(GROUPS[group].label)} ${formatNumber(ms)}`).join(', ')})`
}
