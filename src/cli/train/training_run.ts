// Takes one run of lab train: the run that the page's worker has, on a device that is open, with
// its events written into a folder.

import { version as understoryVersion } from '../../../package.json'
import { writeKernels } from '../../document/experiment/fields/pinned_kernels.ts'
import { remarksOf } from '../../document/experiment/form/remarks.ts'
import { rolloutDTypeText } from '../../document/experiment/rollout_dtype.ts'
import { steeringWords } from '../../document/experiment/steering/words.ts'
import type { CheckpointFiles } from '../../host/checkpoints/file/checkpoint.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import type { Opened } from '../../host/checkpoints/origin.ts'
import { type CheckpointSchedule, DEFAULT_BUDGET_BYTES } from '../../host/checkpoints/schedule.ts'
import { NO_OBSERVATION, type ObservationRequest } from '../../host/protocol/observation.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { vocabularyOf } from '../../host/protocol/vocabulary.ts'
import { type RunDevice, type RunHost, systemClock } from '../../host/worker/base/session_host.ts'
import type { SteeredRun } from '../../host/worker/base/steered_run.ts'
import { UNMEASURED } from '../../host/worker/kernels/run_kernels.ts'
import { Run } from '../../host/worker/run.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import type { Trainer } from '../../rl/train/trainer.ts'
import { createProgress } from '../base/progress.ts'
import { tell } from '../base/terminal.ts'
import { webgpuVersion } from '../base/webgpu_version.ts'
import type { EventLog } from '../output/event_log.ts'
import { historyFacts, type RunFacts } from '../output/run_facts.ts'
import type { RunFolder } from '../output/run_folder.ts'
import { programFacts } from '../sandbox/programs.ts'
import { findingLines, type RunWatch } from './run_watch.ts'

/** What a run began with besides its experiment. */
export type Origin = Pick<
  RunFacts,
  'record' | 'parent' | 'resumed' | 'warm_start' | 'model' | 'matmul'
>

/** The checkpoint that a run continues from, and what is known of it where it is the same run. */
export interface Earlier {
  readonly opened: Opened
  readonly facts: Partial<RunFacts>
}

export interface TrainingRunParts {
  readonly gpu: Pick<Gpu, 'facts' | 'counts' | 'memory' | 'profile' | 'lost' | 'destroy'>
  readonly run: SteeredRun<Trainer>
  /** What steps are to show of the inside. */
  readonly observe?: ObservationRequest | undefined
  readonly folder: RunFolder | undefined
  /** Gets the metrics of each step. */
  readonly events?: Pick<EventLog, 'step'> | undefined
  /** Where checkpoints go, and when; undefined = never. */
  readonly checkpoints?:
    | { readonly files: CheckpointFiles; readonly schedule: CheckpointSchedule }
    | undefined
  readonly watch: RunWatch
  readonly origin: Origin
  readonly earlier?: Earlier | undefined
  /** What the trial of its reward found, a sentence each. */
  readonly trial?: readonly string[]
  /** Awaited once, when the last sft phase is over. */
  readonly afterSft?: () => Promise<void>
}

/** The only run of this process. */
const RUN = 1

/** The experiment's field that brings these kernels back; '' for the default ones. */
const kernelsText = (matmul: MatmulChoice): string =>
  Object.keys(matmul).length === 0 ? '' : writeKernels(matmul)

export class TrainingRun {
  status: RunFacts['status'] = 'running'
  /** Why the newest checkpoint that was due is not there; undefined where it is. */
  checkpoint_problem: string | undefined
  readonly #parts: TrainingRunParts
  readonly #run: Run
  readonly #progress = createProgress()
  readonly #startMs = performance.now()
  readonly #firstStep: number | undefined
  #memoryPeakBytes: number
  #saidDtype: string | undefined
  /** Why the run failed. */
  #error: string | undefined
  #isSftDone = false

  constructor(parts: TrainingRunParts) {
    this.#parts = parts
    const { run, earlier, observe, origin, checkpoints } = parts
    const settings = checkpoints && {
      ...checkpoints.schedule,
      budget_bytes: DEFAULT_BUDGET_BYTES,
    }
    this.#run = new Run(
      this.#host(),
      {
        type: 'start',
        run: RUN,
        record: origin.record,
        paused: true,
        experiment: run.experiment,
        observe: observe ?? NO_OBSERVATION,
        ...(settings && { checkpoints: settings }),
      },
      earlier?.opened,
    )
    // A budget that has an end: each step lands before the next one is queued.
    this.#run.orders.take(Number.MAX_SAFE_INTEGER)
    this.#memoryPeakBytes = earlier?.facts.memory_peak_bytes ?? 0
    this.#firstStep = earlier && run.step
  }

  /** Ends the run after the step in flight. */
  stop(): void {
    this.#run.orders.change({ isEnding: true })
  }

  /** Steps until the end, and frees the device. Throws BrokenNumbers after several steps in a row
   * that were not finite. */
  async train(): Promise<void> {
    const { run, folder } = this.#parts
    this.#sayRolloutDType()
    folder?.facts(this.#facts())
    try {
      await this.#run.drive()
      this.status = run.isFinished ? 'finished' : 'stopped'
    } catch (error) {
      this.status = 'failed'
      this.#error = error instanceof Error ? error.message : `${error}`
      throw error
    } finally {
      this.#progress.end()
      folder?.finish(this.#facts(), this.#run.told.history.series)
    }
  }

  /** What a worker gives its runs, in Node. */
  #host(): RunHost {
    const { checkpoints, folder } = this.#parts
    return {
      ...systemClock,
      version: `Understory ${understoryVersion}`,
      isUnattended: true,
      prepare: async () => this.#device(),
      peak: async () => undefined,
      post: (event) => this.#hear(event),
      between: () => this.#between(),
      ...(checkpoints && {
        checkpoints: {
          open: async () => ({ files: checkpoints.files, whyMemory: '' }),
          encode: encodeCheckpoint,
          decode: decodeCheckpoint,
          // No checkpoint is ahead of the lines of its steps.
          sync: () => folder?.sync(),
          understory: understoryVersion,
        },
      }),
    }
  }

  #device(): RunDevice {
    const { gpu, run, origin } = this.#parts
    const matmul = origin.matmul ?? {}
    return {
      ...UNMEASURED,
      adapter: gpu.facts,
      settled: { matmul, text: kernelsText(matmul) },
      lost: gpu.lost,
      start: async () => ({
        trainer: run,
        counts: gpu.counts,
        memory: () => gpu.memory(),
        profile: (work) => gpu.profile(work),
      }),
      free: async () => gpu.destroy(),
    }
  }

  async #between(): Promise<void> {
    const { run, afterSft } = this.#parts
    const { phases, phase, isPhaseOver } = run.trainer
    const isLast = phase === phases.findLastIndex(({ kind }) => kind === 'sft')
    if (this.#isSftDone || !isLast || !isPhaseOver) return
    await afterSft?.()
    this.#isSftDone = true
  }

  /** Writes down what the run tells. */
  #hear(event: LabEvent): void {
    const { folder } = this.#parts
    if (event.type === 'step') this.#hearStep(event)
    else if (event.type === 'steered') this.#hearSteered(event)
    else if (event.type === 'samples') folder?.samples(event.step, event.samples)
    else if (event.type === 'generations') folder?.generations(event.step, event.generations)
    // What was observed of the step that the run continues from is in the folder already.
    else if (event.type === 'observed' && event.step !== this.#firstStep)
      folder?.observation(event.step, event.observation)
    else if (event.type === 'restored' && event.differs !== undefined) tell(event.differs)
    else if (event.type === 'checkpoint') this.checkpoint_problem = undefined
    else if (event.type === 'checkpoint_problem') {
      this.checkpoint_problem = event.message
      tell(`A checkpoint was not written, and the run continues: ${event.message}`)
    } else if (event.type === 'status' && event.status === 'waiting')
      throw new Error('trainer: this phase waits for verdicts')
  }

  #hearStep({ step, phase, metrics }: Extract<LabEvent, { type: 'step' }>): void {
    const { gpu, run, folder, events, watch } = this.#parts
    watch.step(step, phase, this.#run.told.history.series, run.experiment)
    folder?.metrics(step, metrics)
    events?.step(step, metrics)
    this.#memoryPeakBytes = Math.max(this.#memoryPeakBytes, gpu.counts.live_bytes)
    const { kind, name } = run.trainer.phases[phase]
    const title = `phase ${phase + 1}/${run.trainer.phases.length} ${name || kind}`
    this.#progress.show({ step, totalSteps: run.totalSteps, phase: title, metrics })
  }

  #hearSteered({ entry, refused }: Extract<LabEvent, { type: 'steered' }>): void {
    const said = `after step ${entry.step}: ${steeringWords(entry)}`
    tell(refused === undefined ? said : `${said} was left out: ${refused}`)
    this.#sayRolloutDType()
  }

  /** Says what became of float16 rollouts, whenever that is news. */
  #sayRolloutDType(): void {
    const { rollout_dtype } = this.#parts.run
    const said = rollout_dtype && rolloutDTypeText(rollout_dtype)
    if (said !== undefined && said !== this.#saidDtype) tell(said)
    this.#saidDtype = said
  }

  /** The last known value of every validation metric, or of every metric when there is no
   * validation; then what went wrong. */
  summary(): string {
    const { run, watch } = this.#parts
    const all = [...this.#run.told.history.series]
    const validation = all.filter(([name]) => name.startsWith('val'))
    const lines = (validation.length ? validation : all).map(
      ([name, { values, length }]) => `${name} ${Number(values[length - 1].toPrecision(6))}`,
    )
    const head = `${this.status} after step ${run.step}`
    return [head, ...lines, ...findingLines(watch.found)].join('\n')
  }

  #facts(): RunFacts {
    const { gpu, run, watch, origin, earlier, trial = [] } = this.#parts
    const remarks = [...remarksOf(run.experiment).map(({ message }) => message), ...trial]
    const programs = programFacts()
    return {
      status: this.status,
      adapter: gpu.facts,
      versions: { understory: understoryVersion, webgpu: webgpuVersion, node: process.version },
      ...historyFacts(this.#run.told.history, run.experiment),
      ...origin,
      tokens: vocabularyOf(run.experiment.task).tokens,
      ...(run.rollout_dtype && { rollout_dtype: run.rollout_dtype }),
      ...(remarks.length > 0 && { remarks }),
      ...(programs.length > 0 && { programs }),
      ...(this.#error !== undefined && { error: this.#error }),
      findings: watch.found,
      steps: run.step,
      memory_peak_bytes: this.#memoryPeakBytes,
      wall_time_s: (earlier?.facts.wall_time_s ?? 0) + (performance.now() - this.#startMs) / 1000,
    }
  }
}
