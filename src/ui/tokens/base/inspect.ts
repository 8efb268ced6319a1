// Puts the responses of one step in order for reading: by prompt, sorted, filtered, searched.

import {
  type AdvantageNoise,
  advantageNoise,
  noiseOf,
  withoutNoise,
} from '../../../document/formulas/advantage_noise.ts'
import type { RolloutSample, TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { mean } from '../../kit/mean.ts'
import { groupByPrompt } from '../../learning/grouping.ts'

/** One response, with its tokens where its step was traced. */
export interface Inspected extends Pick<RolloutSample, 'reward_parts' | 'reward_problem'> {
  /** From 0, as the step sampled them. */
  readonly place: number
  readonly prompt: string
  readonly response: string
  readonly ground_truth: string
  /** What is trained on, where that is known; else the task's. */
  readonly score: number
  /** The score is the task's, so that it says whether the response is right. */
  readonly isTaskScore: boolean
  /** Mean over its tokens, 0 where that is rounding; undefined where the step computed none. */
  readonly advantage: number | undefined
  /** Of the advantages of its step. */
  readonly noise: AdvantageNoise
  /** Tokens, end token included. */
  readonly length: number
  readonly is_ended: boolean
  readonly traced: TracedSample | undefined
  /** Its parts, where a tool answered; of a traced response the trace says it token by token. */
  readonly turns?: NonNullable<RolloutSample['turns']>
}

/** Responses that are read together: those to one prompt, or all where each prompt has one
 * response. */
export interface Bundle {
  readonly key: string
  /** undefined where every response has its own. */
  readonly prompt: string | undefined
  /** Those that are shown: what a search leaves out is not. */
  readonly responses: readonly Inspected[]
  /** All of the group: what is said of it counts them. */
  readonly whole: readonly Inspected[]
}

function meanOf(values: readonly number[] | undefined): number | undefined {
  const finite = values?.filter(Number.isFinite)
  return finite?.length ? finite.reduce((a, b) => a + b, 0) / finite.length : undefined
}

const rewardOf = ({ reward_parts, reward_problem }: RolloutSample | TracedSample) => ({
  ...(reward_parts && { reward_parts }),
  ...(reward_problem !== undefined && { reward_problem }),
})

export function ofTable({ samples, phase }: TokenTable): readonly Inspected[] {
  const noise = noiseOf(samples)
  return samples.map((traced, place) => {
    const { prompt, response, ground_truth, score, is_ended, tokens, columns } = traced
    const mean = meanOf(columns.advantages)
    const advantage = mean === undefined ? mean : withoutNoise(mean, noise)
    const text = { prompt, response, ground_truth, ...rewardOf(traced) }
    const isTaskScore = !phase.reward_model.enable
    const length = tokens.length
    return { place, ...text, score, isTaskScore, advantage, noise, length, is_ended, traced }
  })
}

const scoreOf = ({ rm_score, score }: RolloutSample): number => rm_score ?? score

export function ofSamples(samples: readonly RolloutSample[]): readonly Inspected[] {
  const noise = advantageNoise(
    samples.map(scoreOf),
    samples.map(({ advantage }) => advantage),
  )
  return samples.map((sample, place) => {
    const { prompt, response, ground_truth, response_length, is_ended } = sample
    const advantage = withoutNoise(sample.advantage, noise)
    const score = scoreOf(sample)
    const text = { prompt, response, ground_truth, ...rewardOf(sample) }
    return {
      place,
      ...text,
      score,
      isTaskScore: sample.rm_score === undefined,
      advantage,
      noise,
      length: response_length,
      is_ended,
      traced: undefined,
      ...(sample.turns && { turns: sample.turns }),
    }
  })
}

/** Responses to one draw of a prompt. A prompt drawn twice is two groups, where the trace says how
 * large a group is, or `size`, of a step without one. */
export function groupsOf(
  responses: readonly Inspected[],
  size?: number,
): readonly (readonly Inspected[])[] {
  if (responses.some(({ traced }) => !traced))
    return groupByPrompt(responses, size).map(([, group]) => group)
  const groups: Inspected[][] = []
  for (const response of responses) {
    const group = groups.at(-1)
    const isSame =
      group?.[0].prompt === response.prompt &&
      group.length < (group[0].traced?.group.rewards.length ?? 0)
    if (group && isSame) group.push(response)
    else groups.push([response])
  }
  return groups
}

export const ORDERS = {
  differing: 'different scores first',
  score_best: 'best score first',
  score_worst: 'worst score first',
  advantage_high: 'highest advantage first',
  advantage_low: 'lowest advantage first',
  sampled: 'as sampled',
} as const
export type Order = keyof typeof ORDERS

/** What is sorted by, largest first; a response without goes last. */
function rank(order: Order, { score, advantage, place }: Inspected): number {
  if (order === 'sampled') return -place
  const value = order.startsWith('advantage') ? advantage : score
  if (value === undefined || Number.isNaN(value)) return Number.NEGATIVE_INFINITY
  return order === 'score_worst' || order === 'advantage_low' ? -value : value
}

/** Whether responses to a prompt were told apart: with equal advantages no colour differs. */
const hasContrast = (group: readonly Inspected[]): boolean =>
  group.some(({ advantage }) => advantage !== group[0].advantage)

/** Within a group by the order. Groups by their mean score, or by their first response; before both
 * those whose advantages differ, as equal ones teach nothing, where that is asked for. Ties stay as
 * sampled. */
export function sorted(
  groups: readonly (readonly Inspected[])[],
  order: Order,
): readonly (readonly Inspected[])[] {
  const by = (a: number, b: number) => (a === b ? 0 : a > b ? -1 : 1)
  const ranked = groups.map((group) => {
    const responses = group.toSorted((a, b) => by(rank(order, a), rank(order, b)))
    const all = mean(group.map((response) => rank(order, response)))
    const teaches = order === 'differing' && hasContrast(group) ? 1 : 0
    const first = rank(order, responses[0])
    const keys = order.startsWith('score') ? [all, first] : [teaches, first, all]
    return { responses, keys }
  })
  const compare = (a: readonly number[], b: readonly number[]) =>
    a.map((key, i) => by(key, b[i])).find((sign) => sign !== 0) ?? 0
  return ranked.toSorted((a, b) => compare(a.keys, b.keys)).map(({ responses }) => responses)
}

/** Whether a group teaches: its scores differ. */
export const isInformative = (group: readonly Inspected[]): boolean =>
  group.some(({ score }) => score !== group[0].score)

/** Whether a prompt or a response holds a text, whatever its case. */
export function matches({ prompt, response }: Inspected, query: string): boolean {
  const wanted = query.trim().toLowerCase()
  return prompt.toLowerCase().includes(wanted) || response.toLowerCase().includes(wanted)
}

export interface Wanted {
  readonly order: Order
  readonly isInformativeOnly: boolean
  readonly query: string
}

export interface Found {
  readonly bundles: readonly Bundle[]
  /** Responses in them, in the order of reading. */
  readonly responses: readonly Inspected[]
  readonly groups: number
  readonly informativeGroups: number
  /** Whether no prompt has a second response, so that no group can teach by its differences. */
  readonly isSingle: boolean
}

/** What is left of a step's responses, put in order. `size`: as for `groupsOf`. */
export function find(all: readonly Inspected[], wanted: Wanted, size?: number): Found {
  const groups = groupsOf(all, size)
  const isSingle = groups.every(({ length }) => length === 1)
  const informative = groups.filter(isInformative)
  const shown = wanted.isInformativeOnly && !isSingle ? informative : groups
  const kept = shown
    .map((group) => group.filter((response) => matches(response, wanted.query)))
    .filter(({ length }) => length > 0)
  const order = sorted(kept, wanted.order)
  const responses = order.flat()
  const wholes = new Map(groups.flatMap((group) => group.map((one) => [one, group] as const)))
  const bundles = isSingle
    ? responses.length > 0
      ? [{ key: 'all', prompt: undefined, responses, whole: all }]
      : []
    : order.map((group) => {
        const whole = wholes.get(group[0]) ?? group
        return {
          // The first place of the group, whatever the order and the search.
          key: `${Math.min(...whole.map(({ place }) => place))} ${group[0].prompt}`,
          prompt: group[0].prompt,
          responses: group,
          whole,
        }
      })
  return {
    bundles,
    responses,
    isSingle,
    groups: groups.length,
    informativeGroups: informative.length,
  }
}

/** Responses of an open bundle that are drawn at once. */
export const PAGE = 16

/** Where the cursor goes: to the neighbour of a response in the order of reading; stays at both
 * ends. */
export function neighbour(
  { responses }: Found,
  place: number | undefined,
  by: 1 | -1,
): Inspected | undefined {
  const at = responses.findIndex((response) => response.place === place)
  if (at < 0) return responses[0]
  return responses[Math.max(0, Math.min(responses.length - 1, at + by))]
}

export const bundleOf = ({ bundles }: Found, place: number): Bundle | undefined =>
  bundles.find(({ responses }) => responses.some((response) => response.place === place))

/** Which of its group a response is, as sampled, and of how many: '2 of 4'. */
export const numberIn = ({ whole }: Bundle, { place }: Pick<Inspected, 'place'>): string =>
  `${whole.filter((one) => one.place <= place).length} of ${whole.length}`

/** The group to begin with: where those that differ come first, one of them. */
export const firstBundle = ({ bundles }: Found, order: Order): Bundle | undefined =>
  (order === 'differing' ? bundles.find(({ responses }) => hasContrast(responses)) : undefined) ??
  bundles[0]

/** Which groups a person has opened. */
export interface Opened {
  readonly order: Order
  readonly query: string
  /** Of each Bundle.key; undefined for the first. */
  readonly open: readonly string[] | undefined
  /** The same while something is sought; undefined for all that is found. */
  readonly openFound: readonly string[] | undefined
}

const isSought = ({ query }: Pick<Opened, 'query'>): boolean => query.trim() !== ''

/** The view with these groups open. A search has its own, so that after it those are open which
 * were before it. */
export const opening = (
  view: Pick<Opened, 'query'>,
  keys: readonly string[] | undefined,
): Partial<Opened> => (isSought(view) ? { openFound: keys } : { open: keys })

/** The groups that are open: the one to begin with until others are asked for, none after it was
 * closed; of a search all, until one is closed. */
export function openBundles(found: Found, view: Opened): readonly Bundle[] {
  const wanted = isSought(view) ? (view.openFound ?? openedTogether(found)) : view.open
  const open = wanted && found.bundles.filter(({ key }) => wanted.includes(key))
  if (open && (open.length > 0 || wanted.length === 0)) return open
  const first = firstBundle(found, view.order)
  return first ? [first] : []
}

/** The responses of the open groups that are drawn, and the one that is selected: the cursor's, or
 * the first where that is not among them. */
export function drawnOf(
  found: Found,
  view: Opened & {
    readonly pages: number
    readonly cursor: { readonly place: number }
  },
) {
  const open = openBundles(found, view)
  const drawn = open.flatMap(({ responses }) => responses.slice(0, view.pages * PAGE))
  return { open, drawn, at: drawn.find(({ place }) => place === view.cursor.place) ?? drawn[0] }
}

/** Tokens that are drawn where all groups are opened: more would hold up the page. */
const MOST_TOKENS = 6000

/** The first groups, as many as are opened together. */
export function openedTogether({ bundles }: Found): readonly string[] {
  let tokens = 0
  const keys: string[] = []
  for (const { key, responses } of bundles) {
    tokens += responses.slice(0, PAGE).reduce((sum, { length }) => sum + length, 0)
    if (keys.length > 0 && tokens > MOST_TOKENS) break
    keys.push(key)
  }
  return keys
}
