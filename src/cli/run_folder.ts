// What `train --out DIR` leaves behind. Lines are written as they come, so a run cut short keeps them.
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AdapterFacts } from '../kernels/gpu.ts'
import type { MatmulChoice } from '../kernels/matmul/matmul_variants.ts'
import type { RecordedDiagnosis } from '../lab/diagnosis.ts'
import type { Experiment, SteeringEntry } from '../lab/experiment.ts'
import { type MetricColumns, metricsCsv } from '../lab/metrics_file.ts'
import type { Observation } from '../lab/observation.ts'
import { observationLine } from '../lab/observation_file.ts'
import type { Metrics, RolloutSample } from '../lab/protocol.ts'
import type { PhaseReason } from '../rl/phase.ts'

/** Samples kept of each step. */
const SAMPLES = 4

/** What happened, beside what was asked for. */
export interface RunFacts {
  readonly status: 'running' | 'finished' | 'stopped' | 'failed'
  readonly adapter: AdapterFacts
  readonly versions: Readonly<Record<string, string>>
  /** A phase begins with the step after `step`. */
  readonly phases: readonly {
    readonly step: number
    readonly phase: number
    readonly name: string
    readonly reason: PhaseReason
  }[]
  /** What was done to the run, as its document says, in order. */
  readonly steering: readonly (SteeringEntry & { readonly refused?: string })[]
  /** Weights that the run began with instead of new ones. */
  readonly warm_start?: string
  /** Kernels of the matrix products, where they were not the default ones: `--matmul` takes them from here. */
  readonly matmul?: MatmulChoice
  /** What went wrong, each at its worst. */
  readonly findings: readonly RecordedDiagnosis[]
  readonly steps: number
  readonly memory_peak_bytes: number
  readonly wall_time_s: number
}

export class RunFolder {
  readonly folder: string
  #metrics: number
  #samples: number
  /** Opened with the first observation. */
  #observations: number | undefined

  /** Creates the folder; files of an earlier run in it are replaced. */
  constructor(folder: string, experiment: Experiment) {
    mkdirSync(folder, { recursive: true })
    rmSync(join(folder, 'observations.jsonl'), { force: true })
    this.folder = folder
    this.#writeJson('experiment.json', experiment)
    this.#metrics = openSync(join(folder, 'metrics.jsonl'), 'w')
    this.#samples = openSync(join(folder, 'samples.jsonl'), 'w')
  }

  /** One line in the format of verl's file logger: {"step": 1, "data": {…}}. */
  metrics(step: number, data: Metrics): void {
    writeSync(this.#metrics, `${JSON.stringify({ step, data })}\n`)
  }

  /** The first few samples of a step. */
  samples(step: number, samples: readonly RolloutSample[]): void {
    for (const sample of samples.slice(0, SAMPLES))
      writeSync(this.#samples, `${JSON.stringify({ step, ...sample })}\n`)
  }

  /** One line for each observed step (lab/observation_file.ts). */
  observation(step: number, observation: Observation): void {
    this.#observations ??= openSync(join(this.folder, 'observations.jsonl'), 'w')
    writeSync(this.#observations, `${observationLine(step, observation)}\n`)
  }

  facts(facts: RunFacts): void {
    this.#writeJson('run.json', facts)
  }

  /** The metrics of the whole run once more, as a table. */
  table(series: MetricColumns): void {
    writeFileSync(join(this.folder, 'metrics.csv'), metricsCsv(series))
  }

  close(): void {
    closeSync(this.#metrics)
    closeSync(this.#samples)
    if (this.#observations !== undefined) closeSync(this.#observations)
  }

  #writeJson(name: string, value: unknown): void {
    writeFileSync(join(this.folder, name), `${JSON.stringify(value, undefined, 2)}\n`)
  }
}
