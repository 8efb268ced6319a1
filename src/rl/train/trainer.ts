// Trains a run step by step: opens it on a device, moves it from phase to phase, and hands its
// state over.

import type { WeightSink } from '../../formats/weight_stream.ts'
import { megabytes, tooLarge } from '../../kernels/device/base/errors.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { modelShape } from '../../model/layout/config.ts'
import { type ParamLayout, paramLayout } from '../../model/layout/params.ts'
import { gpuSink } from '../../model/params/gpu_sink.ts'
import { writeParams } from '../../model/params/param_copies.ts'
import type { Phase, PhaseReason } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { lensesOf } from '../learners/lens/lens_files.ts'
import type { Observation, ObservationRequest } from '../look/observation.ts'
import { Observer } from '../look/observer.ts'
import { requireBothKinds } from '../reward/judged_answers.ts'
import { PreferenceTraining } from '../reward/preference_training.ts'
import type { Preferences } from '../reward/preferences.ts'
import { planMemory } from './parts/memory.ts'
import { createParts, isNear, type Parts, prepareParts, servesToo } from './parts/parts.ts'
import { Progress } from './parts/progress.ts'
import type { PendingStep, PhaseStart, StepResult } from './parts/step_result.ts'
import { beginStage, isShort, observe, queueStep, queueStepZero } from './queue.ts'
import { Responder } from './responses/responder.ts'
import { drawPhasePairs, preferencesOf } from './reward_model_phase.ts'
import { type RolloutDType, rolloutDType } from './rollout_dtype.ts'
import { freeParts } from './stages/parts_now.ts'
import { freeReadings } from './stages/readings_now.ts'
import type { Training } from './stages/training.ts'
import { exportModels, exportPairs, importModels, importPairs, type TrainerState } from './state.ts'

export class Trainer {
  readonly layout: ParamLayout
  #training: Training
  /** Records what phases after the first need. */
  #later: Promise<void> | undefined

  private constructor(gpu: Gpu, config: TrainerConfig, layout: ParamLayout, parts: Parts) {
    const { actor, samplers } = parts
    this.layout = layout
    this.#training = {
      gpu,
      config,
      layout,
      parts,
      taught: new PreferenceTraining(config.seed),
      responder: new Responder(gpu, config, samplers, actor.size.response_length),
      observer: new Observer(gpu, config, actor.tensors),
      liveParts: undefined,
      liveReadings: new Map(),
      progress: new Progress(config.phases),
      begunWith: undefined,
      wantsTrace: false,
      isMoment: false,
      plainStep: undefined,
      seen: undefined,
      last: undefined,
      entropy: Promise.resolve(undefined),
      skipped_updates: Promise.resolve(0),
    }
  }

  /** Plans the memory, allocates, uploads seeded weights and records the programs of the first
   * phase. Those of later ones are recorded while the first step runs.
   * Before anything is allocated throws GpuError too_large when the adapter's limits do not
   * suffice, and NoPairsError for rows that a phase could not learn from. */
  static async create(
    gpu: Gpu,
    config: TrainerConfig,
    onProgress: (message: string) => void = () => {},
  ): Promise<Trainer> {
    requireBothKinds(config.phases, config.task)
    const layout = paramLayout(modelShape(config.model))
    const plan = planMemory(config)
    const { label, bytes } = plan.largest
    const allowed = gpu.facts.max_binding_bytes
    if (bytes > allowed) throw tooLarge(label, bytes, allowed)
    gpu.timeStages()
    onProgress(`Allocating ${megabytes(plan.total())}`)
    onProgress('Preparing the GPU')
    let ready = 0
    // How many there will be is known once the last one is recorded.
    gpu.compiling = () => {
      if (++ready > 1) onProgress(`Preparing: ${ready} parts ready`)
    }
    try {
      return new Trainer(gpu, config, layout, await createParts(gpu, config, onProgress))
    } finally {
      gpu.compiling = undefined
    }
  }

  /** Continues with another configuration of the same task and model, from the next step on. Phases
   * that have begun keep their index. False, and nothing has changed, where it needs buffers of
   * another size: then a new trainer continues from this one's state. */
  async adopt(changed: TrainerConfig): Promise<boolean> {
    const { gpu, parts, responder, progress } = this.#training
    const { matmul, fusion } = this.config
    const trainedBefore = parts.actor.size.trains
    const config = { ...changed, matmul, fusion, trainedBefore }
    if (!servesToo(this.config, config)) return false
    // One after the other: both would record what neither finds recorded.
    await this.#later
    this.#later = prepareParts(gpu, parts, config)
    await this.#later
    this.#training.config = config
    freeParts(this.#training)
    responder.adopt(config)
    progress.adopt(config.phases)
    return true
  }

  /** The state after the last step that was queued. Everything is captured before this returns,
   * copies on the GPU included, so further steps may be queued while the promise is open; it
   * resolves when the numbers of that step are there. Not while a step is being queued. */
  async exportState(): Promise<TrainerState> {
    const { gpu, parts, progress, responder, last, begunWith } = this.#training
    const { skipped_updates, entropy } = this.#training
    const reading = exportModels(gpu, parts)
    const preferences = exportPairs(this.#training)
    reading.catch(() => {}) // reported below, unless the step itself failed
    const { data, stale } = responder
    const position = {
      ...progress.exportState(),
      sample_index: data.sample_index,
      difficulty: data.exportDifficulty(),
    }
    await last
    return {
      ...position,
      skipped_updates: await skipped_updates,
      entropy: (await entropy) ?? null,
      ...(await reading),
      ...(preferences && { preferences }),
      ...(stale.length > 0 && { stale }),
      ...(begunWith && { begun_with: begunWith }),
    }
  }

  /** Continues from a state, which may come from a trainer with other phases than this one: a
   * critic or reward model that the state lacks is new at its first step, a reference that it lacks
   * is the policy as it is now. Throws RangeError for a state of another model or of phases that
   * are not this trainer's, and as lensesOf does for lenses of another model than it began with. */
  importState(state: TrainerState): void {
    const training = this.#training
    if (!(state.phase < this.phases.length))
      throw new RangeError(`state phase: expected below ${this.phases.length}, got ${state.phase}`)
    if (state.begun_with) this.beginWith(state.begun_with)
    importModels(training.gpu, training.parts, state)
    importPairs(training, state, this.phases)
    training.progress.importState(state, state.critic !== undefined)
    training.skipped_updates = Promise.resolve(state.skipped_updates)
    training.entropy = Promise.resolve(state.entropy ?? undefined)
    training.responder.data.sample_index = state.sample_index
    training.responder.data.importDifficulty(state.difficulty)
    training.responder.stale = state.stale ?? []
  }

  /** Remembers which weights the run begins with: its lenses of files must be of them. Throws as
   * lensesOf does. */
  beginWith(hash: string): void {
    const { lensFiles } = this.config
    if (lensFiles) lensesOf(lensFiles, { shape: this.layout.shape, hash })
    this.#training.begunWith = hash
  }

  /** What it trains; `adopt` changes it. */
  get config(): TrainerConfig {
    return this.#training.config
  }

  get phases(): readonly Phase[] {
    return this.config.phases
  }

  /** Index of the current phase. */
  get phase(): number {
    return this.#training.progress.phase
  }

  /** The current phase's configuration. */
  get current(): Phase {
    return this.#training.progress.current
  }

  /** Training steps done, over all phases. */
  get step(): number {
    return this.#training.progress.step
  }

  /** Steps of the current phase that are done. */
  get phase_step(): number {
    return this.#training.progress.phase_step
  }

  get isFinished(): boolean {
    return this.#training.progress.isLastPhase && this.isPhaseOver
  }

  /** Whether the current phase has taken its last step: all of its steps, or as many as a person or
   * a condition let it. */
  get isPhaseOver(): boolean {
    return this.#training.progress.isPhaseOver
  }

  /** What became of `rollout.dtype: float16`; undefined where no phase asks for it. */
  get rollout_dtype(): RolloutDType | undefined {
    return rolloutDType([...this.#training.parts.samplers.values()].map(({ rollout }) => rollout))
  }

  /** Ends the current phase before the next step. */
  nextPhase(reason: PhaseReason = 'next_phase'): void {
    this.#training.progress.endPhase(reason)
  }

  /** The next step of reinforcement reads back what it computed of every token: `StepResult.trace`.
   * Changes none of its numbers. */
  traceNext(): void {
    this.#training.wantsTrace = true
  }

  /** From the next step on, every `request.every`-th brings what is asked for:
   * `StepResult.observation`, and its token table in phases of reinforcement. Changes none of its
   * numbers. Not while a step is being queued. */
  observe(request: ObservationRequest): void {
    this.#training.observer.ask(request)
    if (!request.parts) freeParts(this.#training)
    freeReadings(this.#training)
  }

  /** The next step that brings what is asked for; undefined where nothing is. */
  get nextObserved(): number | undefined {
    const { observer, progress } = this.#training
    if (!observer.isAsked) return undefined
    if (!progress.is_started) return 0
    return isShort(this.#training) ? progress.step + 1 : observer.nextDue(progress.step)
  }

  /** What is asked for of the state after the last step that was queued; undefined where nothing
   * is. Between two steps. */
  async observeNow(): Promise<Observation | undefined> {
    const training = this.#training
    return training.observer.isAsked ? (await observe(training)).reading : undefined
  }

  /** What a phase that pairs teach is taught, once its pairs are drawn; undefined in other
   * phases. */
  get preferences(): Preferences | undefined {
    return preferencesOf(this.#training)
  }

  /** Whether the phase that has begun waits for a person's verdicts. */
  get isWaiting(): boolean {
    return this.preferences?.isReady(this.phase_step) === false
  }

  /** A person's verdict on the pair that is next in line; false where it is another pair, or no
   * person is asked. */
  decide(id: number, choice: 'a' | 'b' | 'skip'): boolean {
    return this.preferences?.decide(id, choice, this.phase_step) ?? false
  }

  /** Takes a person's last verdict back; false where there is none. */
  undoVerdict(): boolean {
    return this.preferences?.undo(this.phase_step) ?? false
  }

  /** The phase that has begun, to report it before its first step; undefined once it was
   * reported. */
  takePhaseStart(): PhaseStart | undefined {
    return this.#training.progress.takeReason().phase_started
  }

  /** Enters the phase of the next step and draws its pairs. False while it waits for a person's
   * verdicts. */
  async ready(): Promise<boolean> {
    if (!this.#training.progress.is_started) return true
    this.#enterPhase()
    await drawPhasePairs(this.#training)
    return !this.isWaiting
  }

  /** Moves to the next phase when this one is over. A stage of another kind begins with a new
   * optimizer. */
  #enterPhase(): void {
    const { parts, progress, responder } = this.#training
    const entered = progress.enterPhase()
    if (!entered) return
    const { current } = progress
    responder.beginPhase()
    this.#training.entropy = Promise.resolve(undefined)
    parts.actor.resetImportance()
    parts.lens?.importState(undefined)
    const resets = current.kind === 'rl' && current.reset_optimizer
    if (entered.isNewStage || resets) parts.actor.resetOptimizer()
    // What a teacher was where its phase began is another policy in each phase of a stage.
    if (entered.isNewStage || current.kind === 'distill') beginStage(this.#training)
  }

  /** One step and its numbers. The first call validates the untrained model and reports step 0. */
  async next(): Promise<StepResult> {
    return (await this.queue()).result
  }

  /** Queues one step: returns once its last GPU work is submitted, with the promise of its numbers.
   * Queue the next step before awaiting them, and the GPU never waits for the readback. In a phase
   * with a stop condition it returns when the numbers are there, because they decide what the next
   * step is. Throws while the phase waits for verdicts. */
  async queue(): Promise<PendingStep> {
    if (!this.#training.progress.is_started) return queueStepZero(this.#training)
    if (!(await this.ready())) throw new Error('trainer: this phase waits for verdicts')
    if (this.#later || !isNear(this.config, this.phase)) await this.prepareLater()
    const queued = await queueStep(this.#training)
    this.prepareLater().catch(() => {}) // the next step reports it
    return queued
  }

  /** Compiles what later phases need: beside the first step, unless it is called before; the second
   * step waits for it. */
  prepareLater(): Promise<void> {
    const { gpu, parts, config } = this.#training
    this.#later ??= prepareParts(gpu, parts, config)
    return this.#later
  }

  /** Frees the GPU memory. */
  destroy(): void {
    this.#training.gpu.destroy()
  }

  /** The weights in the flat layout; where an adapter is trained, those of its base. */
  exportWeights(): Promise<Float32Array> {
    return this.#training.parts.actor.exportWeights()
  }

  /** Replaces the factors of the adapter, e.g. by those that training is to begin with. Throws
   * RangeError for others than it has. */
  importAdapter(flat: Float32Array): void {
    const { gpu, parts } = this.#training
    const { adapter } = parts.actor.tensors.model
    if (flat.length !== adapter?.layout.size)
      throw new RangeError(
        `adapter: expected ${adapter?.layout.size ?? 0} values, got ${flat.length}`,
      )
    writeParams(gpu, adapter.buffers, flat)
  }

  /** Takes the weights piece by piece, of a model that the run begins with. */
  weightSink(): WeightSink {
    const { gpu, parts } = this.#training
    return gpuSink(gpu, this.layout, parts.actor.tensors.model.weights.buffers)
  }

  /** Where the weights of the model that teaches go; undefined where there is none. */
  get teacher(): { readonly layout: ParamLayout; weightSink(): WeightSink } | undefined {
    const { actor } = this.#training.parts
    const layout = actor.size.teacher
    return layout && { layout, weightSink: () => actor.teacherSink() }
  }

  /** Replaces the weights of the model that teaches. Throws RangeError for another size. */
  importTeacher(flat: Float32Array): void {
    this.#training.parts.actor.importTeacher(flat)
  }

  /** Replaces the weights, e.g. by a warm start that several runs share. Throws RangeError for
   * another size. */
  importWeights(flat: Float32Array): void {
    const { gpu, parts } = this.#training
    if (flat.length !== this.layout.size)
      throw new RangeError(`weights: expected ${this.layout.size} values, got ${flat.length}`)
    writeParams(gpu, parts.actor.tensors.model.weights.buffers, flat)
  }
}
