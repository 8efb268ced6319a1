// One run of lab train from its first step to its last, and the facts about it.
import { createRequire } from 'node:module'
import { version as understory_version } from '../../package.json'
import type { Gpu } from '../kernels/device/gpu.ts'
import { unsoundPart } from '../lab/checkpoints/sound.ts'
import { remarksOf } from '../lab/experiment/form/remarks.ts'
import { rolloutDTypeText } from '../lab/experiment/rollout_dtype.ts'
import { steeringWords } from '../lab/experiment/steering/words.ts'
import { writeVerdicts } from '../lab/experiment/verdicts.ts'
import type { RunHistory } from '../lab/protocol/checkpoint_facts.ts'
import { BrokenNumbers, Guard } from '../lab/protocol/guard.ts'
import type { Observation } from '../lab/protocol/observation.ts'
import type { Metrics } from '../lab/protocol/results.ts'
import type { SteeredRun } from '../lab/worker/steered_run.ts'
import type { StepResult } from '../rl/train/step_result.ts'
import type { Trainer } from '../rl/train/trainer.ts'
import type { Checkpointer } from './checkpointing.ts'
import { createProgress } from './progress.ts'
import { metricsRows } from './resume.ts'
import type { RunFacts, RunFolder } from './run_folder.ts'
import { findingLines, type RunWatch } from './run_watch.ts'
import { tell } from './terminal.ts'

const webgpu_version: string = createRequire(import.meta.url)('webgpu/package.json').version

/** What a run began with besides its experiment. */
export type Origin = Pick<RunFacts, 'record' | 'parent' | 'resumed' | 'warm_start' | 'matmul'>

/** What is known of a run that was cut short. */
export interface Earlier {
  readonly history: RunHistory
  readonly facts: Partial<RunFacts>
}

export interface TrainingRunParts {
  readonly gpu: Pick<Gpu, 'facts' | 'counts'>
  readonly run: SteeredRun<Trainer>
  readonly folder: RunFolder | undefined
  readonly checkpoints: Checkpointer | undefined
  readonly watch: RunWatch
  readonly origin: Origin
  readonly earlier?: Earlier | undefined
}

export class TrainingRun {
  status: RunFacts['status'] = 'running'
  readonly #parts: TrainingRunParts
  readonly #phases: RunFacts['phases'][number][]
  readonly #steering: RunFacts['steering'][number][]
  readonly #latest: Record<string, number> = {}
  readonly #start_ms = performance.now()
  #memory_peak_bytes: number
  #observed_step: number | undefined
  readonly #guard = new Guard()
  #isStopping = false
  #said_dtype: string | undefined

  constructor(parts: TrainingRunParts) {
    this.#parts = parts
    const { run, earlier } = parts
    const { phase_switches = [], steered = [] } = earlier?.history ?? {}
    this.#phases = phase_switches.map((begun) => ({ ...begun, name: this.#nameOf(begun.phase) }))
    this.#steering = steered.map(({ entry, refused }) => ({
      ...entry,
      ...(refused !== undefined && { refused }),
    }))
    for (const [, metrics] of earlier ? metricsRows(earlier.history) : [])
      Object.assign(this.#latest, metrics)
    this.#memory_peak_bytes = earlier?.facts.memory_peak_bytes ?? 0
    // What was observed of this step stands in the folder already.
    this.#observed_step = earlier && run.step
  }

  /** Ends the run after the step in flight. */
  stop(): void {
    this.#isStopping = true
  }

  /**
   * Steps until the end; `afterSft` is called once, when the last sft phase is over. Throws BrokenNumbers after several steps in
   * a row that were not finite.
   */
  async train(afterSft: () => Promise<void>): Promise<void> {
    const { run, checkpoints, folder, watch } = this.#parts
    const progress = createProgress()
    let is_saved = false
    this.#sayRolloutDType()
    folder?.facts(this.#facts())
    try {
      while (!this.#isStopping) {
        await this.#obey()
        if (!is_saved && this.#isSftOver()) {
          await afterSft()
          is_saved = true
        }
        if (run.isFinished) break
        const { result } = await run.queue()
        const reported = await result
        this.#report(reported)
        const { step, phase, metrics } = reported
        const title = `phase ${phase + 1}/${run.trainer.phases.length} ${this.#nameOf(phase)}`
        progress.show({ step, total_steps: run.total_steps, phase: title, metrics })
        // What follows a broken step is no state to go back to.
        if (this.#guard.broken.length === 0) await checkpoints?.afterStep(run)
        this.#requireSound()
      }
      if (this.#observed_step !== run.step) this.#observed(run.step, await run.observeNow())
      if (run.isFinished || this.#guard.broken.length === 0) await checkpoints?.finish(run)
      await this.#requireSoundEnd()
      this.status = run.isFinished ? 'finished' : 'stopped'
    } catch (error) {
      this.status = 'failed'
      throw error
    } finally {
      progress.end()
      await checkpoints?.settled()
      folder?.finish(this.#facts(), watch.series)
    }
  }

  /** Whether the last supervised phase has taken its last step, and no later phase has begun. */
  #isSftOver(): boolean {
    const { phases, phase, isPhaseOver } = this.#parts.run.trainer
    return phase === phases.findLastIndex(({ kind }) => kind === 'sft') && isPhaseOver
  }

  /** Throws BrokenNumbers where the state that was last to be written is not finite. */
  #requireSound(): void {
    const { unsound } = this.#parts.checkpoints ?? {}
    if (unsound) throw this.#guard.brokenBy(unsound.step, unsound.part)
  }

  /** The same of the state that the run ends with, which is looked at where no checkpoint was made of it. */
  async #requireSoundEnd(): Promise<void> {
    this.#requireSound()
    const { run, checkpoints } = this.#parts
    if (checkpoints && this.#guard.broken.length === 0) return
    const part = unsoundPart(await run.exportState())
    if (part) throw this.#guard.brokenBy(run.step, part)
  }

  /** Writes down what a step came to. */
  #report(result: StepResult): void {
    const { step, phase, metrics, samples, phase_started, observation, non_finite } = result
    const { generations = [] } = result
    const { gpu, run, folder, checkpoints, watch } = this.#parts
    this.#observed(step, observation)
    // Step 0 is the model before training.
    if (phase_started) this.#tellPhase({ step: Math.max(0, step - 1), ...phase_started })
    Object.assign(this.#latest, metrics)
    watch.step(step, phase, metrics, run.experiment)
    folder?.metrics(step, metrics)
    folder?.samples(step, samples)
    folder?.generations(step, generations)
    this.#tell(step, metrics)
    this.#memory_peak_bytes = Math.max(this.#memory_peak_bytes, gpu.counts.live_bytes)
    const { preferences } = run
    if (preferences)
      checkpoints?.log.add({ type: 'pairs', phase, verdicts: writeVerdicts(preferences.log) })
    if (this.#guard.see(step, metrics, non_finite)) throw new BrokenNumbers(this.#guard.broken)
  }

  #tell(step: number, metrics: Metrics): void {
    this.#parts.checkpoints?.log.add({ type: 'step', step, metrics })
  }

  #tellPhase(begun: RunHistory['phase_switches'][number]): void {
    this.#phases.push({ ...begun, name: this.#nameOf(begun.phase) })
    this.#parts.checkpoints?.log.add({ type: 'phase', ...begun })
  }

  #nameOf(phase: number): string {
    const { kind, name } = this.#parts.run.trainer.phases[phase]
    return name || kind
  }

  #observed(step: number, observation: Observation | undefined): void {
    if (!observation) return
    this.#observed_step = step
    this.#parts.folder?.observation(step, observation)
  }

  /** Says what became of float16 rollouts, whenever that is news. */
  #sayRolloutDType(): void {
    const { rollout_dtype } = this.#parts.run
    const said = rollout_dtype && rolloutDTypeText(rollout_dtype)
    if (said !== undefined && said !== this.#said_dtype) tell(said)
    this.#said_dtype = said
  }

  /** Does what the document says of this moment, and says so. */
  async #obey(): Promise<void> {
    const { run, checkpoints } = this.#parts
    for (const { entry, refused } of await run.obey()) {
      const mark = { entry, ...(refused !== undefined && { refused }) }
      this.#steering.push({ ...entry, ...(refused !== undefined && { refused }) })
      checkpoints?.log.add({ type: 'steered', ...mark })
      const said = `after step ${entry.step}: ${steeringWords(entry)}`
      tell(refused === undefined ? said : `${said} was left out: ${refused}`)
      this.#sayRolloutDType()
    }
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
