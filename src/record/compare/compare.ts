// Compares several runs: where their experiments differ, which are alike but for the seed, and
// differences by seed.
import { preferenceLabel } from '../../document/experiment/fields/preference_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { layerWords, steeringWords } from '../../document/experiment/steering/words.ts'
import { methodName } from '../../document/presets/method_name.ts'
import { leavesOf } from '../run/leaves.ts'
import type { RunHeader, RunLabels } from '../run/record.ts'
import { type MeanSpread, meanSpread } from './statistics.ts'

/** What was done by hand, each by a path of its own that other experiments have for the same thing
 * after the same step: 'steering.19.set.actor.optim.lr'. */
export function doneByPath({ steering }: Experiment): ReadonlyMap<string, SteeringEntry> {
  const done = new Map<string, SteeringEntry>()
  for (const entry of steering) {
    const what = entry.kind === 'set' ? `set.${entry.path}` : entry.kind
    let path = `steering.${entry.step}.${what}`
    while (done.has(path)) path += '.again'
    done.set(path, entry)
  }
  return done
}

function valuesOf(experiment: Experiment): Map<string, string> {
  const own = [...leavesOf(experiment)].map(([path, value]): [string, string] => [
    path,
    `${value ?? 'none'}`,
  ])
  const steered = [...doneByPath(experiment)].map(([path, entry]): [string, string] => [
    path,
    steeringWords(entry),
  ])
  return new Map([...own, ...steered])
}

export interface Difference {
  /** Dotted, as in the document. */
  readonly path: string
  /** One per experiment; undefined where a document does not say it. */
  readonly values: readonly (string | undefined)[]
}

/** 'REINFORCE++, layer 2, 4 steps'; undefined where there is no such phase. */
export function phaseText(experiment: Experiment, index: number): string | undefined {
  const phase = experiment.phases.at(index)
  if (!phase) return undefined
  const steps = phase.steps === 1 ? '1 step' : `${phase.steps} steps`
  if (phase.kind === 'sft') return `supervised, ${steps}`
  if (phase.kind === 'reward_model') return `a reward model, ${steps}`
  const layer = layerWords(phase.target_layer)
  if (phase.kind === 'distill') return `distillation, ${layer}, ${steps}`
  const method =
    phase.kind === 'rl' ? methodName(experiment, phase) : preferenceLabel(phase.preference)
  return `${method}, ${layer}, ${steps}`
}

/** Phases that not all experiments have are a row each, and not one for each of their fields. */
function withWholePhases(values: Map<string, string>, experiment: Experiment, common: number) {
  const own = [...values].filter(([path]) => {
    const at = /^phases\.(\d+)\./.exec(path)?.[1]
    return at === undefined || Number(at) < common
  })
  const rest = experiment.phases
    .slice(common)
    .map((_, i): [string, string] => [
      `phases.${common + i}`,
      `${phaseText(experiment, common + i)}`,
    ])
  return new Map([...own, ...rest])
}

/** The fields in which the experiments are not all alike, each with its value in every one of
 * them. */
export function differences(experiments: readonly Experiment[]): Difference[] {
  const common = Math.min(...experiments.map(({ phases }) => phases.length))
  const all = experiments.map((one) => withWholePhases(valuesOf(one), one, common))
  const paths = new Set(all.flatMap((values) => [...values.keys()]))
  return [...paths]
    .map((path) => ({ path, values: all.map((values) => values.get(path)) }))
    .filter(({ values }) => values.some((value) => value !== values[0]))
}

const seedless = new WeakMap<Experiment, string>()

/** The same text for experiments that differ in nothing but their seed and their name. */
function withoutSeed(experiment: Experiment): string {
  const known = seedless.get(experiment)
  if (known !== undefined) return known
  const text = JSON.stringify(
    [...valuesOf(experiment)].filter(([path]) => path !== 'seed' && path !== 'kernels').sort(),
  )
  seedless.set(experiment, text)
  return text
}

/** The same text for runs that differ in nothing but their seed and their name. An imported run is
 * alone where neither its log nor its name says of which setting it is. */
function settingKey({ id, document, source }: RunHeader): string {
  if (!source) return withoutSeed(document)
  return source.setting === undefined ? `imported ${id}` : `setting ${source.setting}`
}

/** Runs that differ only in the seed, together, in the order of their first. */
export function bySettings<T extends { readonly header: RunHeader }>(runs: readonly T[]): T[][] {
  const groups = new Map<string, T[]>()
  for (const run of runs) {
    const key = settingKey(run.header)
    const group = groups.get(key)
    if (group) group.push(run)
    else groups.set(key, [run])
  }
  return [...groups.values()]
}

type Labelled = {
  readonly header: Pick<RunHeader, 'started_at'>
  readonly labels: Pick<RunLabels, 'baseline'>
}

/** What has the run that somebody made the baseline first; the others, and all where nobody did, as
 * they began: later runs are changes of earlier ones. `runsOf`: those that one of `all` has. */
export function baselineFirst<T>(all: readonly T[], runsOf: (one: T) => readonly Labelled[]): T[] {
  const isBaseline = (one: T) => runsOf(one).some(({ labels }) => labels.baseline)
  // What nobody knows comes first.
  const began = (one: T) => Math.min(...runsOf(one).map(({ header }) => header.started_at || 0))
  return all.toSorted(
    (a, b) => Number(isBaseline(b)) - Number(isBaseline(a)) || began(a) - began(b),
  )
}

/** Of each seed the longest run: training a seed again gives the same numbers, and would make an
 * interval narrower that it says nothing about. */
export function onePerSeed<T extends { readonly header: RunHeader }>(runs: readonly T[]): T[] {
  const longest = new Map<number, T>()
  for (const run of runs) {
    const { seed } = run.header.experiment
    const other = longest.get(seed)
    if (!other || run.header.step > other.header.step) longest.set(seed, run)
  }
  return runs.filter((run) => longest.get(run.header.experiment.seed) === run)
}

/** One run's number, by its seed. */
export interface SeedValue {
  readonly seed: number
  readonly value: number | undefined
}

export interface PairedDifference {
  readonly pairs: readonly { readonly seed: number; readonly difference: number }[]
  /** Undefined with fewer than two pairs: one difference says nothing about its spread. */
  readonly spread: MeanSpread | undefined
}

/** `b` minus `a` for every seed that both have a number for; the first run of a seed counts. */
export function pairedBySeed(a: readonly SeedValue[], b: readonly SeedValue[]): PairedDifference {
  const first = (values: readonly SeedValue[], seed: number) =>
    values.find((other) => other.seed === seed)?.value
  const seeds = [...new Set(a.map(({ seed }) => seed))].sort((x, y) => x - y)
  const pairs = seeds.flatMap((seed) => {
    const [before, after] = [first(a, seed), first(b, seed)]
    if (before === undefined || after === undefined) return []
    const difference = after - before
    return Number.isFinite(difference) ? [{ seed, difference }] : []
  })
  return { pairs, spread: meanSpread(pairs.map(({ difference }) => difference)) }
}
