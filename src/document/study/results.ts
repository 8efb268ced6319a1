// Keeps the result of a finished run of a study: a few of its curves by step, its costs, and where
// it ran.
import * as z from 'zod/mini'
import {
  addCosts,
  type Costs,
  isSampling,
  NO_COSTS,
  stepCosts,
  stepResponses,
} from '../experiment/costs/costs.ts'
import { isWarmStart } from '../experiment/fields/phases.ts'
import type { Experiment } from '../experiment/schema/schema.ts'
import { fingerprintOf } from './fingerprint.ts'
import { measuresOf, type Study } from './study.ts'

const curve = z.array(z.tuple([z.number(), z.number()]))

const resultSchema = z.strictObject({
  format: z.literal(1),
  /** The arm's name when it ran. */
  arm: z.string(),
  seed: z.int(),
  /** Says which experiment ran (fingerprintOf). */
  fingerprint: z.string(),
  /** failed: its numbers broke, or the trainer ended it. */
  status: z.enum(['finished', 'failed']),
  problem: z.optional(z.string()),
  adapter: z.string(),
  seconds: z.number(),
  /** The last step of the warm start: what is compared begins behind it. */
  begins: z.int(),
  /** [step, value] by metric, steps ascending. */
  series: z.record(z.string(), curve),
  /** [step, cumulative] of each cost. */
  costs: z.strictObject({ responses: curve, tokens: curve, arithmetic: curve }),
})

/** One run of one arm. */
export type RunResult = z.infer<typeof resultSchema>

/** A result that was kept, or undefined for what is none. */
export const readResult = (value: unknown): RunResult | undefined =>
  resultSchema.safeParse(value).data

/** Points that are kept of a curve that is measured at every step. */
const POINTS = 6
/** Curves that every report draws. */
const KEPT =
  /(^val-.*(acc\/greedy|acc\/mean@\d+|pass@(?!1\/)\d+\/mean)$)|^layer\/entropy\/|^critic\/score\/mean$|^actor\/entropy$/
/** Begins what is measured of a run's states. */
const INSIDE = 'inside/'

type Metrics = Readonly<Record<string, number>>

/** Where the phases of a run began: each with the step after `step`. */
type PhaseSwitches = readonly { readonly step: number; readonly phase: number }[]

/** The phase of a step; step 0 is measured in the first. */
export const phaseAt = (switches: PhaseSwitches, step: number): number =>
  switches.findLast((begun) => begun.step < step)?.phase ?? 0

/** The steps of a run as its history has them (protocol/checkpoint_facts.ts PlainHistory). */
interface ToldSteps {
  readonly series: Readonly<
    Record<string, { readonly steps: Float64Array; readonly values: Float64Array }>
  >
  readonly phase_switches: PhaseSwitches
}

/** [step, value]. */
export type Point = [number, number]
/** Digits of a kept value. Accuracies are shares of a few thousand answers. */
const PRECISION = 7

/** Gathers what a run reports, step by step, into its result. */
export class ResultLog {
  readonly #experiment: Experiment
  readonly #wanted: readonly string[]
  readonly #series = new Map<string, [number, number][]>()
  readonly #costs: Record<keyof Costs, [number, number][]> = {
    responses: [],
    tokens: [],
    arithmetic: [],
  }
  #total: Costs = NO_COSTS
  #begins = 0
  #steps = 0

  constructor(experiment: Experiment, study: Pick<Study, 'measure' | 'also'>) {
    this.#experiment = experiment
    this.#wanted = measuresOf(study)
      .flatMap(({ metric, reaches }) => [metric, reaches])
      .filter((name) => name !== null)
  }

  /** `phase` counts from 0. Step 0 is what is measured before the first. */
  step(step: number, phase: number, metrics: Metrics): void {
    this.#steps = step
    const { phases } = this.#experiment
    const document = phases[phase]
    if (!document || isWarmStart(document)) this.#begins = step
    else if (isSampling(document) && metrics['perf/total_num_tokens'] !== undefined) {
      const batches = metrics['train/num_gen_batches'] ?? 1
      const responses = batches * stepResponses(this.#experiment, document)
      const tokens = batches * metrics['perf/total_num_tokens']
      this.#total = addCosts(
        this.#total,
        stepCosts(this.#experiment, document, { responses, tokens }),
      )
    }
    for (const name of Object.keys(this.#costs) as (keyof Costs)[])
      this.#costs[name].push([step, this.#total[name]])
    for (const [name, value] of Object.entries(metrics))
      if (this.#isKept(name) && Number.isFinite(value)) {
        const curve = this.#series.get(name) ?? []
        curve.push([step, value])
        this.#series.set(name, curve)
      }
  }

  /** Takes in what was measured of the run's states: [step, value] by metric, steps ascending. */
  inside(series: Readonly<Record<string, readonly Point[]>>): void {
    for (const [name, curve] of Object.entries(series))
      this.#series.set(`${INSIDE}${name}`, [...curve])
  }

  #isKept(name: string): boolean {
    return KEPT.test(name) || this.#wanted.some((ending) => name.endsWith(ending))
  }

  /** Takes in what a run told before it was left, up to the state that it continues from. */
  recall({ series, phase_switches }: ToldSteps): void {
    const byStep = new Map<number, Record<string, number>>()
    for (const [name, { steps, values }] of Object.entries(series))
      for (const [i, step] of steps.entries()) {
        const metrics = byStep.get(step) ?? {}
        metrics[name] = values[i]
        byStep.set(step, metrics)
      }
    for (const [step, metrics] of [...byStep].sort(([a], [b]) => a - b))
      this.step(step, phaseAt(phase_switches, step), metrics)
  }

  /** The run is back after this step: what was heard of later ones no longer holds. */
  restore(step: number): void {
    const before = <T extends readonly [number, number]>(curve: T[]) =>
      curve.filter(([at]) => at <= step)
    this.#steps = step
    this.#begins = Math.min(this.#begins, step)
    for (const [name, curve] of this.#series) this.#series.set(name, before(curve))
    for (const name of Object.keys(this.#costs) as (keyof Costs)[]) {
      this.#costs[name] = before(this.#costs[name])
      this.#total = { ...this.#total, [name]: this.#costs[name].at(-1)?.[1] ?? 0 }
    }
  }

  result(
    run: Pick<RunResult, 'arm' | 'seed' | 'status' | 'adapter' | 'seconds' | 'problem'>,
  ): RunResult {
    const all = [...this.#series]
    const measured = new Set(
      all.flatMap(([name, curve]) => (isSparse(name) ? curve.map(([step]) => step) : [])),
    )
    const every = Math.max(1, Math.ceil((this.#steps - this.#begins) / POINTS))
    const kept = (curve: readonly Point[], isWhole: boolean): Point[] => {
      const own = curve.filter(([step]) => step >= this.#begins)
      return own
        .filter(
          ([step], i) =>
            isWhole || i === 0 || i === own.length - 1 || (step - this.#begins) % every === 0,
        )
        .map(([step, value]): Point => [step, Number(value.toPrecision(PRECISION))])
    }
    const costs = (name: keyof Costs) =>
      kept(
        this.#costs[name].filter(([step]) => measured.has(step) || step === this.#steps),
        true,
      )
    const series = all.map(([name, curve]) => [name, kept(curve, isSparse(name))] as const)
    return {
      format: 1,
      ...run,
      fingerprint: fingerprintOf(this.#experiment),
      begins: this.#begins,
      series: Object.fromEntries(series),
      costs: {
        responses: costs('responses'),
        tokens: costs('tokens'),
        arithmetic: costs('arithmetic'),
      },
    }
  }
}

/** Measured at some steps alone, and kept whole. */
const isSparse = (name: string): boolean => name.startsWith('val-') || name.startsWith(INSIDE)
