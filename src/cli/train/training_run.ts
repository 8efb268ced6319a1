// One run of lab train: the loop that the page runs, with its events written into a folder, and the facts about it.
import { createRequire } from 'node:module'
import { version as understory_version } from '../../../package.json'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { remarksOf } from '../../lab/experiment/form/remarks.ts'
import { rolloutDTypeText } from '../../lab/experiment/rollout_dtype.ts'
import { steeringWords } from '../../lab/experiment/steering/words.ts'
import { writeVerdicts } from '../../lab/experiment/verdicts.ts'
import type { RunHistory } from '../../lab/protocol/checkpoint_facts.ts'
import { NO_OBSERVATION, type ObservationRequest } from '../../lab/protocol/observation.ts'
import type { LabEvent } from '../../lab/protocol/protocol.ts'
import { RunLoop } from '../../lab/worker/run_loop.ts'
import { Orders } from '../../lab/worker/run_orders.ts'
import type { SteeredRun } from '../../lab/worker/steered_run.ts'
import type { Trainer } from '../../rl/train/trainer.ts'
import type { RunFacts } from '../output/run_facts.ts'
import type { RunFolder } from '../output/run_folder.ts'
import { createProgress } from '../progress.ts'
import { tell } from '../terminal.ts'
import type { Checkpointer } from './checkpointing.ts'
import { metricsRows } from './resume.ts'
import { findingLines, type RunWatch } from './run_watch.ts'

const webgpu_version: string = createRequire(import.meta.url)('webgpu/package.json').version

/** What a run began with besides its experiment. */
export type Origin = Pick<
  RunFacts,
  'record' | 'parent' | 'resumed' | 'warm_start' | 'model' | 'matmul'
>

/** What is known of a run that was cut short. */
export interface Earlier {
  readonly history: RunHistory
  readonly facts: Partial<RunFacts>
}

export interface TrainingRunParts {
  readonly gpu: Pick<Gpu, 'facts' | 'counts' | 'memory' | 'profile'>
  readonly run: SteeredRun<Trainer>
  /** What steps are to show of the inside. */
  readonly observe?: ObservationRequest | undefined
  readonly folder: RunFolder | undefined
  readonly checkpoints: Checkpointer
  readonly watch: RunWatch
  readonly origin: Origin
  readonly earlier?: Earlier | undefined
}

/** The only run of this process. */
const RUN = 1

export class TrainingRun {
  status: RunFacts['status'] = 'running'
  readonly #parts: TrainingRunParts
  readonly #orders: Orders
  readonly #progress = createProgress()
  readonly #phases: RunFacts['phases'][number][]
  readonly #steering: RunFacts['steering'][number][]
  readonly #latest: Record<string, number> = {}
  readonly #start_ms = performance.now()
  readonly #first_step: number | undefined
  #memory_peak_bytes: number
  #said_dtype: string | undefined

  constructor(parts: TrainingRunParts) {
    this.#parts = parts
    const { run, earlier, observe } = parts
    this.#orders = new Orders(false, observe ?? NO_OBSERVATION)
    // A budget that has an end: each step lands before the next one is queued.
    this.#orders.take(Number.MAX_SAFE_INTEGER)
    const { phase_switches = [], steered = [] } = earlier?.history ?? {}
    this.#phases = phase_switches.map((begun) => ({ ...begun, name: this.#nameOf(begun.phase) }))
    this.#steering = steered.map(({ entry, refused }) => ({
      ...entry,
      ...(refused !== undefined && { refused }),
    }))
    for (const [, metrics] of earlier ? metricsRows(earlier.history) : [])
      Object.assign(this.#latest, metrics)
    this.#memory_peak_bytes = earlier?.facts.memory_peak_bytes ?? 0
    this.#first_step = earlier && run.step
  }

  /** Ends the run after the step in flight. */
  stop(): void {
    this.#orders.change({ is_ending: true })
  }

  /**
   * Steps until the end; `afterSft` is called once, when the last sft phase is over. Throws BrokenNumbers after several steps in
   * a row that were not finite.
   */
  async train(afterSft: () => Promise<void>): Promise<void> {
    const { run, checkpoints, folder, watch } = this.#parts
    this.#sayRolloutDType()
    folder?.facts(this.#facts())
    try {
      await this.#loop(afterSft).drive()
      this.status = run.isFinished ? 'finished' : 'stopped'
    } catch (error) {
      this.status = 'failed'
      throw error
    } finally {
      this.#progress.end()
      await checkpoints.idle
      folder?.finish(this.#facts(), watch.series)
    }
  }

  #loop(afterSft: () => Promise<void>): RunLoop {
    const { gpu, run, checkpoints } = this.#parts
    let is_saved = false
    return new RunLoop(
      {
        id: RUN,
        host: {
          now: () => performance.now(),
          peak: async () => undefined,
          sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        },
        orders: this.#orders,
        keeper: checkpoints,
        samples_ms: 0,
        post: (event) => this.#hear(event),
        setStatus: (status) => {
          if (status === 'waiting') throw new Error('trainer: this phase waits for verdicts')
        },
        between: async () => {
          if (is_saved || !this.#isSftOver()) return
          await afterSft()
          is_saved = true
        },
      },
      {
        trainer: run,
        counts: gpu.counts,
        memory: () => gpu.memory(),
        profile: (work) => gpu.profile(work),
      },
    )
  }

  /** Whether the last supervised phase has taken its last step, and no later phase has begun. */
  #isSftOver(): boolean {
    const { phases, phase, isPhaseOver } = this.#parts.run.trainer
    return phase === phases.findLastIndex(({ kind }) => kind === 'sft') && isPhaseOver
  }

  /** Writes down what the loop tells. */
  #hear(event: LabEvent): void {
    const { folder } = this.#parts
    if (event.type === 'phase') this.#hearPhase(event)
    else if (event.type === 'step') this.#hearStep(event)
    else if (event.type === 'steered') this.#hearSteered(event)
    else if (event.type === 'samples') folder?.samples(event.step, event.samples)
    else if (event.type === 'generations') folder?.generations(event.step, event.generations)
    // What was observed of the step that the run continues from is in the folder already.
    else if (event.type === 'observed' && event.step !== this.#first_step)
      folder?.observation(event.step, event.observation)
  }

  #hearStep(event: Extract<LabEvent, { type: 'step' }>): void {
    const { step, phase, metrics } = event
    const { gpu, run, folder, checkpoints, watch } = this.#parts
    Object.assign(this.#latest, metrics)
    watch.step(step, phase, metrics, run.experiment)
    folder?.metrics(step, metrics)
    checkpoints.log.add(event)
    this.#memory_peak_bytes = Math.max(this.#memory_peak_bytes, gpu.counts.live_bytes)
    const { preferences } = run
    if (preferences)
      checkpoints.log.add({ type: 'pairs', phase, verdicts: writeVerdicts(preferences.log) })
    const title = `phase ${phase + 1}/${run.trainer.phases.length} ${this.#nameOf(phase)}`
    this.#progress.show({ step, total_steps: run.total_steps, phase: title, metrics })
  }

  #hearPhase(event: Extract<LabEvent, { type: 'phase' }>): void {
    const { step, phase, reason } = event
    this.#phases.push({ step, phase, reason, name: this.#nameOf(phase) })
    this.#parts.checkpoints.log.add(event)
  }

  #hearSteered(event: Extract<LabEvent, { type: 'steered' }>): void {
    const { entry, refused } = event
    this.#steering.push({ ...entry, ...(refused !== undefined && { refused }) })
    this.#parts.checkpoints.log.add(event)
    const said = `after step ${entry.step}: ${steeringWords(entry)}`
    tell(refused === undefined ? said : `${said} was left out: ${refused}`)
    this.#sayRolloutDType()
  }

  #nameOf(phase: number): string {
    const { kind, name } = this.#parts.run.trainer.phases[phase]
    return name || kind
  }

  /** Says what became of float16 rollouts, whenever that is news. */
  #sayRolloutDType(): void {
    const { rollout_dtype } = this.#parts.run
    const said = rollout_dtype && rolloutDTypeText(rollout_dtype)
    if (said !== undefined && said !== this.#said_dtype) tell(said)
    this.#said_dtype = said
  }

  /** The last known value of every validation metric, or of every metric when there is no validation; then what went wrong. */
  summary(): string {
    const all = Object.entries(this.#latest)
    const validation = all.filter(([name]) => name.startsWith('val'))
    const lines = (validation.length ? validation : all).map(
      ([name, value]) => `${name} ${Number(value.toPrecision(6))}`,
    )
    const findings = findingLines(this.#parts.watch.found)
    const head = `${this.status} after step ${this.#parts.run.step}`
    return [head, ...lines, ...findings].join('\n')
  }

  #facts(): RunFacts {
    const { gpu, run, watch, origin, earlier } = this.#parts
    const remarks = remarksOf(run.experiment).map(({ message }) => message)
    return {
      status: this.status,
      adapter: gpu.facts,
      versions: { understory: understory_version, webgpu: webgpu_version, node: process.version },
      phases: this.#phases,
      steering: this.#steering,
      ...origin,
      ...(run.rollout_dtype && { rollout_dtype: run.rollout_dtype }),
      ...(remarks.length > 0 && { remarks }),
      findings: watch.found,
      steps: run.step,
      memory_peak_bytes: this.#memory_peak_bytes,
      wall_time_s: (earlier?.facts.wall_time_s ?? 0) + (performance.now() - this.#start_ms) / 1000,
    }
  }
}
