// Writes what a menu card says of a preset's runs: a sentence whose every number is computed from
// committed rows or read from the experiment. The words around the numbers hold no digits, and a
// test checks that.
import { valueAt } from '../../src/document/experiment/fields/paths.ts'
import type { Experiment } from '../../src/document/experiment/schema/schema.ts'
import type { PresetRun } from './preset_run.ts'
import type { Point } from './reward_parts.ts'

/** What a figure is computed from. */
export interface Measured {
  readonly experiment: Experiment
  /** At least one. */
  readonly runs: readonly PresetRun[]
  /** The runs of another preset; none where none were made. */
  readonly runsOf: (preset: string) => readonly PresetRun[]
}

export type Figure = (measured: Measured) => string
type Pick = (run: PresetRun) => number | undefined

export interface CardText {
  readonly words: readonly string[]
  readonly figures: readonly Figure[]
}

/** A tagged template: words, with figures or whole sentences between them. */
export function says(words: TemplateStringsArray, ...parts: (Figure | CardText)[]): CardText {
  const all = [words[0]]
  const figures: Figure[] = []
  parts.forEach((part, i) => {
    if (typeof part === 'function') {
      figures.push(part)
      all.push(words[i + 1])
    } else {
      const [first, ...rest] = part.words
      all[all.length - 1] += first
      all.push(...rest)
      figures.push(...part.figures)
      all[all.length - 1] += words[i + 1]
    }
  })
  return { words: all, figures }
}

/** The sentences with their numbers. */
export const written = ({ words, figures }: CardText, measured: Measured): string =>
  words.map((text, i) => text + (figures[i]?.(measured) ?? '')).join('')

/** The numbers of all runs that have one. Throws RangeError where none has: a card may not name
 * what was not measured. */
function valuesOf(runs: readonly PresetRun[], pick: Pick): number[] {
  const values = runs.flatMap((run) => pick(run) ?? [])
  if (values.length === 0) throw new RangeError(`no run has this figure: ${pick}`)
  return values
}

function span(
  values: readonly number[],
  text: (value: number) => string,
  joint: '–' | ' to ',
): string {
  const [low, high] = [text(Math.min(...values)), text(Math.max(...values))]
  return low === high ? low : `${low}${joint}${high}`
}

const wholePercent = (share: number): string => `${Math.round(100 * share)}`

/** From the smallest to the largest share of all seeds, e.g. '25–29 %'. */
export const percent =
  (pick: Pick): Figure =>
  ({ runs }) =>
    `${span(valuesOf(runs, pick), wholePercent, '–')} %`

/** The largest share of all seeds, e.g. '4 %'. */
export const largestPercent =
  (pick: Pick): Figure =>
  ({ runs }) =>
    `${wholePercent(Math.max(...valuesOf(runs, pick)))} %`

/** From the smallest to the largest number of all seeds, with this many digits behind the point. */
export const number =
  (pick: Pick, digits = 0): Figure =>
  ({ runs }) =>
    // A dash would be mistaken for a sign.
    span(valuesOf(runs, pick), (value) => value.toFixed(digits).replace('-', '−'), ' to ')

/** A field of the experiment. */
export const setting =
  (path: string): Figure =>
  ({ experiment }) =>
    `${valueAt(experiment, path)}`

/** A number that follows from the experiment. */
export const computed =
  (of: (experiment: Experiment) => number): Figure =>
  ({ experiment }) =>
    `${of(experiment)}`

/** A figure of another preset's runs; refused where that has none. */
export const of =
  (preset: string, figure: Figure): Figure =>
  (measured) => {
    const runs = measured.runsOf(preset)
    return runs.length === 0 ? '(not measured)' : figure({ ...measured, runs })
  }

const seeds = (count: number): string => `${count} seed${count === 1 ? '' : 's'}`

/** e.g. '3 seeds'. */
export const seedCount: Figure = ({ runs }) => seeds(runs.length)

/** How often a number fell and rose, and from where to where over all seeds, e.g. 'fell in 2 of 3
 * seeds and rose in 1 (1.51–1.85 → 1.23–1.68)'. */
export const went =
  (first: Pick, last: Pick, digits = 2): Figure =>
  ({ runs }) => {
    const [before, after] = [valuesOf(runs, first), valuesOf(runs, last)]
    const fallen = before.filter((value, i) => after[i] < value).length
    const risen = before.filter((value, i) => after[i] > value).length
    const [from, to] = [before, after].map((all) => span(all, (one) => one.toFixed(digits), '–'))
    return `${counts(fallen, risen, runs.length)} (${from} → ${to})`
  }

function counts(fallen: number, risen: number, all: number): string {
  if (all === 1) return fallen > 0 ? 'fell' : risen > 0 ? 'rose' : 'did not change'
  if (fallen === 0 && risen === 0) return `did not change in ${seeds(all)}`
  if (risen === 0) return `fell in ${fallen} of ${seeds(all)}`
  if (fallen === 0) return `rose in ${risen} of ${seeds(all)}`
  return `fell in ${fallen} of ${seeds(all)} and rose in ${risen}`
}

/** In how many seeds that both have a number is higher than the other preset's, e.g. 'in 2 of 3
 * seeds'. */
export const higherThan =
  (preset: string, pick: Pick): Figure =>
  ({ runs, runsOf }) => {
    const other = new Map(runsOf(preset).map((run) => [run.seed, pick(run)]))
    const pairs = runs.flatMap((run): [number, number][] => {
      const [own, its] = [pick(run), other.get(run.seed)]
      return own === undefined || its === undefined ? [] : [[own, its]]
    })
    const higher = pairs.filter(([own, its]) => own > its).length
    return pairs.length === 0 ? '(not measured)' : `in ${higher} of ${seeds(pairs.length)}`
  }

export const valueAtStep = (points: readonly Point[], step: number): number | undefined =>
  points.find(([x]) => x === step)?.[1]

/** Accuracy before reinforcement, after a number of its steps, and at its end. */
export const greedyAt =
  (step: number): Pick =>
  ({ greedy }) =>
    valueAtStep(greedy, step)
export const sampledAt =
  (step: number): Pick =>
  ({ sampled }) =>
    valueAtStep(sampled, step)
export const greedyEnd: Pick = ({ greedy }) => greedy.at(-1)?.[1]
export const sampledEnd: Pick = ({ sampled }) => sampled.at(-1)?.[1]

/** Entropies of rl phase i, counted from 0, nats: of the layer that it trains, or of the model's
 * own policy. */
export const entropyOf =
  (phase: number, when: 'first' | 'last', layer: 'target' | 'final'): Pick =>
  ({ phases }) => {
    const { target_layer, [when]: layers } = phases[phase]
    return layers[layer === 'target' ? target_layer : layers.length - 1]
  }

/** A share after a number of steps of reinforcement, e.g. '45–68 % after 20 steps'. */
export const after =
  (step: number, pickAt: (step: number) => Pick): Figure =>
  (measured) =>
    `${percent(pickAt(step))(measured)} after ${step} steps`
