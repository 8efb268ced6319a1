// What `train --out DIR` leaves behind. Lines are written as they come, so a run cut short keeps them.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { AdapterFacts } from '../kernels/gpu.ts'
import type { MatmulChoice } from '../kernels/matmul/matmul_variants.ts'
import type { RecordedDiagnosis } from '../lab/diagnosis.ts'
import type { Experiment, SteeringEntry } from '../lab/experiment.ts'
import { metricsCsv } from '../lab/metrics_file.ts'
import type { Observation } from '../lab/observation.ts'
import { observationLine } from '../lab/observation_file.ts'
import type { Generation, Metrics, RolloutSample } from '../lab/protocol.ts'
import type { RolloutDType } from '../lab/rollout_dtype.ts'
import type { Series } from '../lab/series.ts'
import { thinnedOf } from '../lab/thinning.ts'
import type { PhaseReason } from '../rl/phase.ts'
import { checkpointFolder } from './checkpoint_files.ts'
import { linesOf, tableOfLines } from './line_file.ts'

/** Samples kept of each step. */
const SAMPLES = 4

/** What happened, beside what was asked for. */
export interface RunFacts {
  /** The run's id, which its checkpoints have too. */
  readonly record: string
  /** The checkpoint that it went on from as a run of its own. */
  readonly parent?: { readonly record: string; readonly step: number }
  /** Where it was cut short and went on, with what took the steps from there on. */
  readonly resumed?: readonly ResumedFact[]
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
  /** What became of `rollout.dtype: float16`, where a phase asks for it. */
  readonly rollout_dtype?: RolloutDType
  /** What the run did otherwise than its document says, a sentence each. */
  readonly remarks?: readonly string[]
  /** What went wrong, each at its worst. */
  readonly findings: readonly RecordedDiagnosis[]
  readonly steps: number
  readonly memory_peak_bytes: number
  readonly wall_time_s: number
}

export interface ResumedFact {
  /** The last step of the checkpoint. */
  readonly step: number
  readonly understory: string
  readonly adapter: string
}

const METRICS = 'metrics.jsonl'
const SAMPLED = 'samples.jsonl'
const OBSERVATIONS = 'observations.jsonl'
const GENERATIONS = 'generations.jsonl'

export class RunFolder {
  readonly folder: string
  #metrics: number
  #samples: number
  /** Opened with the first observation. */
  #observations: number | undefined
  /** Opened with the first evaluation that keeps answers. */
  #generations: number | undefined

  private constructor(folder: string, flags: 'w' | 'a') {
    this.folder = folder
    this.#metrics = openSync(join(folder, METRICS), flags)
    this.#samples = openSync(join(folder, SAMPLED), flags)
  }

  /** Creates the folder; files of an earlier run in it are replaced. */
  static create(folder: string, experiment: Experiment): RunFolder {
    mkdirSync(folder, { recursive: true })
    for (const name of [OBSERVATIONS, GENERATIONS]) rmSync(join(folder, name), { force: true })
    rmSync(checkpointFolder(folder), { recursive: true, force: true })
    const own = new RunFolder(folder, 'w')
    own.#writeJson('experiment.json', experiment)
    return own
  }

  /**
   * Opens the folder of a run that goes on after `step`: what was written of later steps, or was cut off in the middle of a
   * line, is taken out. `last_step` is the last one whose metrics are there; -1 where there are none.
   */
  static reopen(folder: string, step: number): { folder: RunFolder; last_step: number } {
    const last_step = cutLines(join(folder, METRICS), step)
    cutLines(join(folder, SAMPLED), step)
    for (const name of [OBSERVATIONS, GENERATIONS]) cutLines(join(folder, name), step)
    return { folder: new RunFolder(folder, 'a'), last_step }
  }

  /** Whether a folder holds observations, so that a run that goes on in it makes them too. */
  static isObserved(folder: string): boolean {
    return existsSync(join(folder, OBSERVATIONS))
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

  /** One line for each answer, as in verl's validation_data_dir but in one file: {"step": 1, "input": …, "output": …, "gts": …, "score": …}. */
  generations(step: number, generations: readonly Generation[]): void {
    if (generations.length === 0) return
    this.#generations ??= openSync(join(this.folder, GENERATIONS), 'a')
    for (const generation of generations)
      writeSync(this.#generations, `${JSON.stringify({ step, ...generation })}\n`)
  }

  /** One line for each observed step (lab/observation_file.ts). */
  observation(step: number, observation: Observation): void {
    this.#observations ??= openSync(join(this.folder, OBSERVATIONS), 'a')
    writeSync(this.#observations, `${observationLine(step, observation)}\n`)
  }

  facts(facts: RunFacts): void {
    this.#writeJson('run.json', facts)
  }

  /** The metrics of the whole run once more, as a table; from the file where the columns have no longer every step. */
  table(series: ReadonlyMap<string, Series>): void {
    const table = join(this.folder, 'metrics.csv')
    if (thinnedOf(series.values())) tableOfLines(join(this.folder, METRICS), table)
    else writeFileSync(table, metricsCsv(series))
  }

  /** Puts what was written so far on the disk, so that no checkpoint is ahead of it. */
  sync(): void {
    fsyncSync(this.#metrics)
    fsyncSync(this.#samples)
    if (this.#observations !== undefined) fsyncSync(this.#observations)
    if (this.#generations !== undefined) fsyncSync(this.#generations)
  }

  close(): void {
    closeSync(this.#metrics)
    closeSync(this.#samples)
    if (this.#observations !== undefined) closeSync(this.#observations)
    if (this.#generations !== undefined) closeSync(this.#generations)
  }

  #writeJson(name: string, value: unknown): void {
    replaceFile(join(this.folder, name), `${JSON.stringify(value, undefined, 2)}\n`)
  }
}

/** Keeps the whole lines of a file up to a step; returns the last step that is left, or -1. */
function cutLines(path: string, step: number): number {
  if (!existsSync(path)) return -1
  let [kept, last_step] = [0, -1]
  for (const { line, end } of linesOf(path)) {
    const own = stepOf(line)
    if (own === undefined || own > step) break
    last_step = own
    kept = end
  }
  if (kept < statSync(path).size) truncateSync(path, kept)
  return last_step
}

/** In one go: what is cut short leaves the old file or the new one. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.unfinished`, text)
  renameSync(`${path}.unfinished`, path)
}

function stepOf(line: string): number | undefined {
  try {
    const step: unknown = JSON.parse(line)?.step
    return typeof step === 'number' ? step : undefined
  } catch {
    return undefined
  }
}
