// The loop. One training step, top to bottom: sample → score → advantages → old log-probs → update → report.
import { tooLarge } from '../../kernels/device/errors.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import { type ModelConfig, modelShape } from '../../model/params/config.ts'
import { type ParamLayout, paramLayout } from '../../model/params/params.ts'
import type { Fusion } from '../../model/transformer/model.ts'
import type { Task, Tokenizer } from '../../tasks/task.ts'
import {
  type ActorPhase,
  type Data,
  hasStop,
  type Phase,
  type PhaseReason,
  type Probe,
  type RewardModelPhase,
  type RlPhase,
  type SftPhase,
  trainsActor,
  type Validation,
  validatesBefore,
} from '../config/phase.ts'
import {
  continuesSchedule,
  continuesStage,
  klSettings,
  learningRate,
  scheduledOptim,
  scheduleSteps,
} from '../config/schedule.ts'
import { plateauWindow, SCORE, stopMetrics, stopReason } from '../config/stop.ts'
import { type RolloutBatch, spreadRows, tokenCount } from '../experience/batch.ts'
import {
  type DriverColumn,
  driverColumns,
  type Experience,
  makeExperience,
  needsCritic,
  needsPiSquared,
  type ScoredBatch,
} from '../experience/experience.ts'
import {
  adoptedKl,
  type KlController,
  type KlControllerConfig,
  klController,
} from '../experience/kl.ts'
import {
  type Actor,
  type BatchRows,
  criticPasses,
  needsReference,
  phaseRows,
  shufflesRows,
} from '../learners/actor.ts'
import type { Critic } from '../learners/critic.ts'
import { objectiveOf } from '../learners/objective.ts'
import type { LayerChanges } from '../look/layer_changes.ts'
import {
  type Observation,
  type ObservationRequest,
  type ObservedRows,
} from '../look/observation.ts'
import { Observer } from '../look/observer.ts'
import {
  isOfUpdate,
  type TokenTable,
  type TraceColumn,
  tokenTable,
  traceColumns,
  tracedRows,
  traceTensor,
  withLayers,
} from '../look/token_table.ts'
import { maskedMeanRows } from '../math/masked.ts'
import { type RowOrder, rowOrder, unshuffled } from '../math/shuffle.ts'
import { computeThroughputMetrics, computeTimingMetrics } from '../metrics/data_metrics.ts'
import {
  actorMetrics,
  bypassMetrics,
  criticMetrics,
  layerEntropies,
  rlMetrics,
  sftMetrics,
  takenUpdates,
} from '../metrics/metrics.ts'
import { brokenPlace, brokenUpdate, type NonFinite, tokenAt } from '../metrics/nonfinite.ts'
import type { Preferences } from '../reward/preferences.ts'
import type { RewardTraining, ScoredPair } from '../reward/reward_training.ts'
import { planMemory, validationSize } from './memory.ts'
import { createParts, type Parts, prepareParts, sameSizes } from './parts.ts'
import { type Drawn, Responder, reportSamples } from './responder.ts'
import { type RolloutDType, rolloutDType } from './rollout_dtype.ts'
import type { Sampler } from './sampler.ts'
import { exportModels, importModels, type TrainerState } from './state.ts'
import type { PendingStep, PhaseStart, StepResult, StepSample } from './step_result.ts'
import { type Validated, validate } from './validation.ts'

export interface TrainerConfig {
  readonly seed: number
  readonly task: Task
  readonly tokenizer: Tokenizer
  readonly model: ModelConfig
  readonly phases: readonly Phase[]
  readonly validation: Validation
  readonly probe: Probe
  /** Which problems it trains on; default: endless draws from all training problems. */
  readonly data?: Data
  /** Less memory for more arithmetic: the same bits (model/transformer/workspace.ts). */
  readonly enable_gradient_checkpointing?: boolean
  /** Leave padding out of log-prob and update passes: the same numbers to rounding, for less work. Default true. */
  readonly use_remove_padding?: boolean
  /**
   * Kernels of the linear layers (see tuneMatmul), where they are not the default ones. Results are the same bits for the
   * same choice, and differ in rounding between choices.
   */
  readonly matmul?: MatmulChoice | undefined
  /** What runs inside a matrix product instead of after it (model/transformer/fusion.ts). Default: all of it. */
  readonly fusion?: Fusion | undefined
}

export type { PhaseReason } from '../config/phase.ts'
export type { Generation, PendingStep, PhaseStart, StepResult, StepSample } from './step_result.ts'

export class Trainer {
  /** What it trains; `adopt` changes it. */
  config: TrainerConfig
  readonly layout: ParamLayout
  /** Index of the current phase. */
  phase = 0
  /** Training steps done, over all phases. */
  step = 0
  #gpu: Gpu
  #parts: Parts
  #actor: Actor
  #critic: Critic | undefined
  #reward: RewardTraining | undefined
  #responder: Responder
  #changes: LayerChanges | undefined
  #observer: Observer
  /** What the policy was trained on last, for looking at it. */
  #seen: { readonly batch: RolloutBatch; readonly rows: ObservedRows } | undefined
  /** The reward_model phase whose pairs are drawn. */
  #pairs_of: number | undefined
  #kl: KlController | undefined
  #phase_step = 0
  #stage_step = 0
  /** Steps of this stage that had a critic. */
  #critic_step = 0
  #is_started = false
  /** What ends the present phase before the next step, apart from its steps. */
  #ends: PhaseReason | undefined
  #wants_trace = false
  /** Why the present phase began, until that was told. */
  #reason: PhaseReason | undefined = 'start'
  /** Mean scores of the phase's last steps, for its stop conditions. */
  #scores: number[] = []
  /** The numbers of the last step that was queued. */
  #last: Promise<unknown> | undefined
  /** Optimizer steps left out because a gradient was not finite, after the last step that was queued. */
  #skipped_updates: Promise<number> = Promise.resolve(0)

  private constructor(gpu: Gpu, config: TrainerConfig, layout: ParamLayout, parts: Parts) {
    this.#gpu = gpu
    this.config = config
    this.layout = layout
    this.#parts = parts
    this.#actor = parts.actor
    this.#critic = parts.critic
    this.#reward = parts.reward
    this.#changes = parts.changes
    this.#observer = new Observer(gpu, config, parts.actor.tensors)
    this.#responder = new Responder(gpu, config, parts.samplers, parts.actor.size.response_length)
  }

  /**
   * Plans the memory, allocates, uploads seeded weights and records every program of every phase.
   * Throws GpuError too_large before anything is allocated when the adapter's limits do not suffice.
   */
  static async create(
    gpu: Gpu,
    config: TrainerConfig,
    onProgress: (message: string) => void = () => {},
  ): Promise<Trainer> {
    const layout = paramLayout(modelShape(config.model))
    const plan = planMemory(config)
    const { label, bytes } = plan.largest
    const allowed = gpu.facts.max_binding_bytes
    if (bytes > allowed) throw tooLarge(label, bytes, allowed)
    if (!gpu.facts.is_software) gpu.limitDispatches()
    gpu.timeStages()
    onProgress(`Allocating ${megabytes(plan.total())}`)
    onProgress('Compiling shaders')
    return new Trainer(gpu, config, layout, await createParts(gpu, config, onProgress))
  }

  /**
   * Goes on with another configuration of the same task and model, from the next step on. Phases that have begun keep
   * their index. False, and nothing has changed, where it needs buffers of another size: then a new trainer goes on with
   * this one's state.
   */
  async adopt(changed: TrainerConfig): Promise<boolean> {
    const { matmul, fusion } = this.config
    const config = { ...changed, matmul, fusion }
    if (!sameSizes(config, this.config)) return false
    await prepareParts(this.#gpu, this.#parts, config)
    const before = this.#klSettings()
    this.config = config
    this.#responder.adopt(config)
    this.#adoptKl(before)
    return true
  }

  /**
   * The state after the last step that was queued. Everything is captured before this returns, copies on the GPU included, so
   * further steps may be queued while the promise is open; it resolves when the numbers of that step are there. Not while a
   * step is being queued.
   */
  async exportState(): Promise<TrainerState> {
    const reading = exportModels(this.#gpu, this.#parts)
    reading.catch(() => {}) // reported below, unless the step itself failed
    const [last, skipped] = [this.#last, this.#skipped_updates]
    const position = this.#position()
    await last
    return { ...position, skipped_updates: await skipped, ...(await reading) }
  }

  /** What the CPU knows after the last step that was queued. */
  #position() {
    return {
      phase: this.phase,
      step: this.step,
      phase_step: this.#phase_step,
      stage_step: this.#stage_step,
      critic_step: this.#critic_step,
      is_started: this.#is_started,
      ends: this.#ends ?? null,
      began: this.#reason ?? null,
      sample_index: this.#responder.data.sample_index,
      scores: [...this.#scores],
      kl_coef: this.#kl?.value ?? null,
      pairs_of: this.#pairs_of ?? null,
    }
  }

  /**
   * Goes on from a state, which may come from a trainer with other phases than this one: a critic or reward model that it
   * lacks is new at its first step, a reference that it lacks is the policy as it is now. Throws RangeError for a state of
   * another model or of phases that are not this trainer's.
   */
  importState(state: TrainerState): void {
    if (!(state.phase < this.phases.length))
      throw new RangeError(`state phase: expected below ${this.phases.length}, got ${state.phase}`)
    importModels(this.#gpu, this.#parts, state, this.phases)
    this.phase = state.phase
    this.step = state.step
    this.#phase_step = state.phase_step
    this.#stage_step = state.stage_step
    this.#critic_step = state.critic ? state.critic_step : 0
    this.#is_started = state.is_started
    this.#ends = state.ends ?? undefined
    this.#reason = state.began ?? undefined
    this.#skipped_updates = Promise.resolve(state.skipped_updates)
    this.#responder.data.sample_index = state.sample_index
    this.#scores = [...state.scores]
    this.#pairs_of = state.pairs_of ?? undefined
    const kl_ctrl = this.#klSettings()
    this.#kl =
      state.kl_coef !== null && kl_ctrl
        ? klController({ ...kl_ctrl, kl_coef: state.kl_coef })
        : undefined
  }

  /** Settings of the present phase's KL controller; those of another phase where this one has no KL in the reward. */
  #klSettings(): KlControllerConfig | undefined {
    const { current } = this
    const own = current.kind === 'rl' ? current.algorithm.kl_ctrl : undefined
    return klSettings(this.phases, this.phase) ?? own
  }

  /** The controller continues under the present settings, which were `before`. */
  #adoptKl(before: KlControllerConfig | undefined): void {
    const after = this.#klSettings()
    if (this.#kl && before && after) this.#kl = adoptedKl(this.#kl, before, after)
  }

  get phases(): readonly Phase[] {
    return this.config.phases
  }

  /** The current phase's configuration. */
  get current(): Phase {
    return this.config.phases[this.phase]
  }

  get isFinished(): boolean {
    return this.phase === this.phases.length - 1 && this.isPhaseOver
  }

  /** Whether the current phase has taken its last step: all of its steps, or as many as a person or a condition let it. */
  get isPhaseOver(): boolean {
    return this.#is_started && (this.#phase_step >= this.current.steps || this.#ends !== undefined)
  }

  /** Steps of the current phase that are done. */
  get phase_step(): number {
    return this.#phase_step
  }

  /** What became of `rollout.dtype: float16`; undefined where no phase asks for it. */
  get rollout_dtype(): RolloutDType | undefined {
    return rolloutDType([...this.#parts.samplers.values()].map(({ rollout }) => rollout))
  }

  /** Ends the current phase before the next step. */
  nextPhase(reason: PhaseReason = 'next_phase'): void {
    this.#ends = reason
  }

  /** The next step of reinforcement reads back what it computed of every token: `StepResult.trace`. Changes none of its numbers. */
  traceNext(): void {
    this.#wants_trace = true
  }

  /**
   * From the next step on, every `request.every`-th brings what is asked for: `StepResult.observation`, and its token table in
   * phases of reinforcement. Changes none of its numbers. Not while a step is being queued.
   */
  observe(request: ObservationRequest): void {
    this.#observer.ask(request)
  }

  /** What is asked for of the state after the last step that was queued; undefined where nothing is. Between two steps. */
  async observeNow(): Promise<Observation | undefined> {
    return this.#observer.isAsked ? (await this.#look()).reading : undefined
  }

  /** Encodes an observation of the present weights, on what they were trained on last. */
  #look() {
    const { batch, rows } = this.#seen ?? {
      batch: this.#responder.heldOut(this.#actor.size.probe_rows),
      rows: 'held_out' as const,
    }
    return this.#observer.observe(batch, rows)
  }

  /** What a reward_model phase is taught, once its pairs are drawn; undefined in other phases. */
  get preferences(): Preferences | undefined {
    return this.#pairs_of === this.phase ? this.#reward?.preferences : undefined
  }

  /** Whether the phase that has begun waits for a person's verdicts. */
  get isWaiting(): boolean {
    return this.preferences?.isReady(this.#phase_step) === false
  }

  /** A person's verdict on the pair that is next in line; false where it is another one, or nobody is asked. */
  decide(id: number, choice: 'a' | 'b' | 'skip'): boolean {
    return this.preferences?.decide(id, choice, this.#phase_step) ?? false
  }

  /** Takes a person's last verdict back; false where there is none. */
  undoVerdict(): boolean {
    return this.preferences?.undo(this.#phase_step) ?? false
  }

  /** The phase that has begun, for whoever must tell it before its first step; undefined once it was told. */
  takePhaseStart(): PhaseStart | undefined {
    return this.#takeReason().phase_started
  }

  /** Enters the phase of the next step and draws its pairs. False while it waits for a person's verdicts. */
  async ready(): Promise<boolean> {
    if (!this.#is_started) return true
    this.#enterPhase()
    const { current, phase } = this
    if (current.kind === 'reward_model' && this.#pairs_of !== phase && this.#reward) {
      const responder = this.#responder
      this.#gpu.stage('gen')
      await this.#reward.begin(current, this.#actor.tensors.model.weights.flat, this.layout, {
        prompts_at_once: responder.prompts_at_once,
        takeSamples: (count) => responder.data.take(count),
        respond: (samples, round) =>
          responder.respondTwice(samples, current.pairs.temperature, this.step, round),
      })
      this.#pairs_of = phase
    }
    return !this.isWaiting
  }

  /** One step and its numbers. The first call validates the untrained model and reports step 0. */
  async next(): Promise<StepResult> {
    return (await this.queue()).result
  }

  /**
   * Queues one step: returns once its last GPU work is submitted, with the promise of its numbers. Queue the next step
   * before awaiting them, and the GPU never waits for the readback. In a phase with a stop condition it returns when the
   * numbers are there, because they decide what the next step is. Throws while the phase waits for verdicts.
   */
  async queue(): Promise<PendingStep> {
    if (!this.#is_started) return this.#before()
    if (!(await this.ready())) throw new Error('trainer: this phase waits for verdicts')
    const started = performance.now()
    const { dispatches, submits } = this.#gpu.counts
    const { current } = this
    this.step++
    this.#phase_step++
    const total_steps = scheduleSteps(this.phases, this.phase)
    const optim = scheduledOptim(this.phases, this.phase)
    const lr = learningRate(optim, this.#stage_step++, total_steps)
    const { samples, rollout, reading, tracing } = trainsActor(current)
      ? await this.#trainActor(current, lr)
      : this.#rewardModel(current, lr)
    const epoch = trainsActor(current) ? this.#responder.data.epoch : undefined
    const position = {
      step: this.step,
      phase: this.phase,
      phase_step: this.#phase_step,
      ...this.#takeReason(),
    }
    reading.catch(() => {}) // a device lost during validation is reported there
    tracing?.table.catch(() => {})
    const work = {
      'perf/dispatches': this.#gpu.counts.dispatches - dispatches,
      'perf/submits': this.#gpu.counts.submits - submits,
    }
    const trace = tracing && (await this.#traceLayers(tracing))
    const observing = this.#observer.isDue(this.step) ? await this.#look() : undefined
    const is_validated = this.#isValidationDue()
    const validation = is_validated ? await this.#validate() : undefined
    const limits = await this.#limitDispatches()
    const skipped = Promise.all([this.#skipped_updates, reading]).then(
      ([before, { metrics }]) => before + metrics['training/skipped_updates'],
    )
    this.#skipped_updates = skipped
    const arriving = Promise.all([reading, trace?.table, skipped])
    const numbers = arriving.then(([taken, trace, skipped_updates_total]) => {
      const { metrics, scored_pairs, non_finite } = taken
      const seconds = (performance.now() - started) / 1000
      return {
        ...position,
        metrics: {
          'training/global_step': position.step,
          ...(epoch !== undefined && { 'training/epoch': epoch }),
          ...metrics,
          'training/skipped_updates_total': skipped_updates_total,
          ...work,
          ...limits,
          ...validation?.metrics,
          ...(rollout && computeThroughputMetrics(rollout, { step: seconds })),
          'timing_s/step': seconds,
        },
        samples,
        ...told(validation),
        ...(scored_pairs && { scored_pairs }),
        ...(non_finite && { non_finite }),
        ...(trace && { trace }),
      }
    })
    const result = observing ? withObservation(numbers, observing.reading) : numbers
    result.catch(() => {}) // its reader may come late
    this.#last = result
    if (!trainsActor(current) || !hasStop(current.stop)) return { result }
    return { result: Promise.resolve(await this.#judge(await result, current, is_validated)) }
  }

  /** Ends the phase where one of its stop conditions holds; its last step is validated then, as the last one always is. */
  async #judge(result: StepResult, phase: ActorPhase, is_validated: boolean): Promise<StepResult> {
    if (!hasStop(phase.stop)) return result
    const { metrics } = result
    const { task, model, validation } = this.config
    if (SCORE in metrics)
      this.#scores = [...this.#scores, metrics[SCORE]].slice(
        -Math.max(1, plateauWindow(phase.stop)),
      )
    const names = stopMetrics(phase, task.id, model.num_hidden_layers)
    const reason = stopReason(phase.stop, names, metrics, this.#scores)
    this.#ends ??= reason
    if (!reason || is_validated || validation.test_freq <= 0) return result
    const last = await this.#validate()
    return { ...result, metrics: { ...metrics, ...last.metrics }, ...told(last) }
  }

  /** Frees the GPU memory. */
  destroy(): void {
    this.#gpu.destroy()
  }

  /** The weights in the flat layout. */
  exportWeights(): Promise<Float32Array> {
    return this.#actor.exportWeights()
  }

  /** Replaces the weights, e.g. by a warm start that several runs share. Throws RangeError for another size. */
  importWeights(flat: Float32Array): void {
    if (flat.length !== this.layout.size)
      throw new RangeError(`weights: expected ${this.layout.size} values, got ${flat.length}`)
    this.#gpu.write(this.#actor.tensors.model.weights.flat, flat)
  }

  /** One step of the policy. */
  async #trainActor(phase: ActorPhase, lr: number): Promise<Taken> {
    this.#actor.beginStep()
    this.#critic?.beginStep()
    const queued = phase.kind === 'sft' ? this.#sft(phase, lr) : await this.#rl(phase, lr)
    const reading = this.#readMetrics(queued)
    const rows = phase.kind === 'sft' ? 'demonstrations' : 'responses'
    this.#seen = { batch: queued.batch, rows }
    return {
      samples: queued.samples,
      reading,
      ...(phase.kind === 'rl' && { rollout: queued.batch }),
      ...(queued.tracing && { tracing: queued.tracing }),
    }
  }

  /** One step of the reward model, on pairs that the policy made when the phase began. The policy rests. */
  #rewardModel(phase: RewardModelPhase, lr: number): Taken {
    if (!this.#reward) throw new Error('trainer: there is no reward model')
    const { test_freq } = this.config.validation
    const is_end = this.#phase_step === 1 || this.#phase_step === phase.steps
    const is_due = test_freq > 0 && this.step % test_freq === 0
    // A person who has just said something sees what it changes.
    const measures = is_end || is_due || !!this.preferences?.hasNews(this.#phase_step - 1)
    return { samples: [], reading: this.#reward.step(phase, lr, measures) }
  }

  /** Supervised step: cross-entropy on the next demonstrations. */
  #sft(phase: SftPhase, lr: number): QueuedStep {
    const { batch: count, micro } = this.#rows(phase)
    const batch = this.#responder.demonstrate(count)
    this.#actor.upload(batch, { micro })
    const probe_tokens = this.#uploadProbe(batch)
    this.#gpu.stage('sft')
    this.#actor.updateSupervised(batch, micro, phase.optim, phase.grad_clip, lr)
    return { phase, batch, lr, probe_tokens, samples: [], metrics: {} }
  }

  /** Reinforcement step of the policy of `target_layer`; responses always come from the final policy. */
  async #rl(phase: RlPhase, lr: number): Promise<QueuedStep> {
    const actor = this.#actor
    const critic = needsCritic(phase) ? this.#critic : undefined
    const rows = this.#rows(phase)
    if (critic && this.#critic_step++ === 0) this.#beginCritic(critic, phase)

    // Sample G responses to each prompt and score them.
    this.#gpu.stage('gen')
    const reward = phase.reward_model.enable ? this.#reward : undefined
    const drawn = await this.#responder.draw(
      phase,
      this.step,
      reward && ((rows) => reward.score(rows)),
    )
    const { batch } = drawn
    // A write ends what was recorded before it, so the probe's rows go up first.
    const probe_tokens = this.#uploadProbe(batch)

    // Old policy, reference and values; then advantages. Only what the estimator asks for comes back from the GPU.
    const { experience, adv, values } = await this.#experience(phase, drawn, rows, critic)
    const response_mask = Float32Array.from(experience.response_mask ?? batch.response_mask)
    const trained: RolloutBatch = { ...batch, response_mask }

    // Critic first, then the actor: both of the same rows.
    const critic_lr = this.#criticRate()
    this.#gpu.stage('update_critic')
    const passes = criticPasses(phase, rows)
    const order = this.#rowOrder(phase, rows.batch)
    if (critic)
      critic.update(trained, Float32Array.from(experience.returns), phase.critic, passes.rows, {
        epochs: passes.epochs,
        lr: critic_lr,
        order,
        is_legacy: phase.actor.use_legacy_worker_impl === 'enable',
        max_response_length: phase.rollout.max_response_length,
      })
    this.#gpu.stage('update_actor')
    const wants_trace = this.#wants_trace || this.#observer.isTraced(this.step)
    this.#wants_trace = false
    if (wants_trace) actor.beginTrace()
    if (!critic || this.#critic_step >= phase.critic.critic_warmup)
      actor.updatePolicy(trained, phase, rows, lr, this.step, order)
    const tracing: Tracing | undefined = wants_trace
      ? { table: this.#trace(phase, drawn, experience, trained), batch, order: drawn.order }
      : undefined

    const { response_length: R } = batch
    const samples = reportSamples(drawn, maskedMeanRows(experience.advantages, response_mask, R))
    const metrics = {
      ...rlMetrics(phase, drawn, { ...experience, response_mask }, values),
      ...computeTimingMetrics(batch, { adv }),
    }
    const { sampler } = drawn
    const learner = critic && { critic, critic_lr }
    const rest = { ...(sampler && { sampler }), ...learner, samples, metrics }
    const traced = tracing && { tracing }
    return { phase, batch, lr, probe_tokens, ...rest, ...traced }
  }

  /** The critic of a stage begins at its first step that has one. */
  #beginCritic(critic: Critic, { critic: { model } }: RlPhase): void {
    if (model.init === 'actor') {
      critic.begin(this.#actor.tensors.model.weights.flat, this.layout)
      return
    }
    if (!this.#reward)
      throw new Error('trainer: there is no reward model for the critic to begin as')
    critic.begin(this.#reward.tensors.model.weights.flat, this.#reward.layout)
  }

  /** Scores the batch under the old policy and what else the phase needs, and makes its advantages; uploads both. */
  async #experience(
    phase: RlPhase,
    drawn: Drawn,
    rows: BatchRows,
    critic: Critic | undefined,
  ): Promise<{ experience: Experience; adv: number; values?: Float32Array }> {
    const { batch, rollout_log_probs } = drawn
    const { algorithm } = phase
    const actor = this.#actor
    const scored: ScoredBatch = {
      response_length: batch.response_length,
      response_mask: batch.response_mask,
      token_level_scores: drawn.token_level_scores,
      index: drawn.index,
      ...(drawn.reward_baselines && { reward_baselines: drawn.reward_baselines }),
      ...(rollout_log_probs && { rollout_log_probs }),
    }
    const kl = klController(algorithm.kl_ctrl)
    if (algorithm.use_kl_in_reward) this.#kl ??= kl
    const columns = driverColumns(phase)
    if (columns.length === 0) {
      const { experience, adv } = timedExperience(phase, scored, this.#kl ?? kl)
      actor.upload(batch, rows, { advantages: Float32Array.from(experience.advantages) })
      this.#scoreBatch(phase, rows, critic)
      return { experience, adv }
    }
    actor.upload(batch, rows)
    this.#scoreBatch(phase, rows, critic)
    if (algorithm.rollout_correction.bypass_mode && rollout_log_probs)
      actor.uploadColumns({ old_log_probs: rollout_log_probs })
    const read = await this.#readColumns(columns, rows.batch)
    const { experience, adv } = timedExperience(phase, { ...scored, ...read }, this.#kl ?? kl)
    const { advantages, rollout_is_weights, response_mask } = experience
    actor.uploadColumns({
      advantages: Float32Array.from(advantages),
      ...(rollout_is_weights && { rollout_is_weights: Float32Array.from(rollout_is_weights) }),
      ...(response_mask && { response_mask: Float32Array.from(response_mask) }),
    })
    return { experience, adv, ...(read.values && { values: read.values }) }
  }

  /** Encodes what is computed of the uploaded batch before any update: old and reference log-probs, values. */
  #scoreBatch(phase: RlPhase, rows: BatchRows, critic: Critic | undefined): void {
    const { bypass_mode } = phase.algorithm.rollout_correction
    const gpu = this.#gpu
    gpu.stage('old_log_prob')
    if (!bypass_mode || needsPiSquared(phase)) this.#actor.computeLogProbs(phase, rows)
    gpu.stage('ref')
    if (needsReference(phase)) this.#actor.computeRefLogProb(phase, rows)
    gpu.stage('values')
    critic?.computeValues(rows)
  }

  /** Scores the batch once more, after the update, and reads back what the step knew of every token. */
  #trace(
    phase: RlPhase,
    drawn: Drawn,
    experience: Experience,
    trained: RolloutBatch,
  ): Promise<TokenTable> {
    const actor = this.#actor
    const rows = this.#rows(phase)
    this.#gpu.stage('trace')
    actor.endTrace(phase, rows)
    const { updates } = actor.trainable
    const names = traceColumns(phase)
    const shape = [rows.batch, actor.size.response_length]
    const tensors = names.map((name) => {
      const tensor = traceTensor(name, actor.tensors, this.#critic?.tensors)
      return this.#gpu.view(tensor, tensor.label, 0, shape)
    })
    const { tokens } = this.config.tokenizer
    // What stays of the updates lies in the order of the last epoch.
    const order = this.#rowOrder(phase, rows.batch)?.(phase.actor.ppo_epochs - 1)
    return this.#gpu.read(...tensors).then((arrays) => {
      const back = (name: TraceColumn, values: Float32Array) =>
        order && isOfUpdate(name) ? unshuffled(values, order, shape[1]) : values
      const read = Object.fromEntries(
        names.map((name, i) => [name, back(name, arrays[i] as Float32Array)]),
      )
      const told = { phase, drawn, experience, trained, rows, updates, read, tokens }
      return tokenTable({ ...told, ...(order && { order }) })
    })
  }

  /** The table with the entropies of every layer after the step, where they are asked for. */
  async #traceLayers(tracing: Tracing): Promise<Pick<Tracing, 'table'>> {
    const { table, batch, order } = tracing
    const traced = await this.#observer.traceLayers(batch, tracedRows(order))
    if (!traced) return tracing
    const whole = Promise.all([table, traced.reading]).then(([told, layers]) =>
      withLayers(told, layers),
    )
    whole.catch(() => {}) // its reader may come late
    return { table: whole }
  }

  /** Per-token arrays of the batch, [B, R]. */
  async #readColumns(
    columns: readonly DriverColumn[],
    rows: number,
  ): Promise<Partial<Record<DriverColumn, Float32Array>>> {
    const { batch } = this.#actor.tensors
    const names = columns.filter((name) => name !== 'rollout_log_probs')
    if (names.length === 0) return {}
    const values = this.#critic?.tensors.values ?? batch.old_log_probs
    const R = this.#actor.size.response_length
    const tensors = names.map((name) => (name === 'values' ? values : batch[name]))
    const read = await this.#gpu.read(
      ...tensors.map((tensor) => this.#gpu.view(tensor, tensor.label, 0, [rows, R])),
    )
    return Object.fromEntries(names.map((name, i) => [name, read[i] as Float32Array]))
  }

  /** The critic's schedule runs beside the actor's; #stage_step has already been counted up. */
  #criticRate(): number {
    const optim = scheduledOptim(this.phases, this.phase, 'critic')
    return learningRate(optim, this.#stage_step - 1, scheduleSteps(this.phases, this.phase))
  }

  /** Probes the layers, then reads every number of this step in one readback. */
  #readMetrics(queued_step: QueuedStep): Promise<StepNumbers> {
    const { phase, batch, lr, probe_tokens, metrics, sampler, critic, critic_lr } = queued_step
    const order = phase.kind === 'rl' ? this.#rowOrder(phase, batch.rows) : undefined
    const actor = this.#actor
    const { sums, history, probe_sums, correction_sums, nonfinite, nonfinite_token } = actor.tensors
    this.#gpu.stage('probe')
    if (probe_tokens > 0) actor.probe()
    const changes = this.#isValidationDue() ? this.#changes : undefined
    const changed_tokens = changes?.measure(spreadRows(batch, actor.size.probe_rows)) ?? 0
    this.#gpu.stage('gen')
    sampler?.sumEntropy()
    const stages = this.#gpu.resolveStages()
    const { updates } = actor.trainable
    const critic_updates = critic?.trainable.updates ?? 0
    const read = this.#gpu.read(
      sums,
      history,
      probe_sums,
      sampler?.entropy_sum ?? sums,
      critic?.tensors.value_sums ?? sums,
      critic?.tensors.history ?? history,
      correction_sums,
      changes?.tensors.sums ?? sums,
      stages?.stamps ?? sums,
      nonfinite,
      nonfinite_token,
      critic?.tensors.nonfinite ?? nonfinite,
    ) // readback 2
    return read.then(
      ([
        loss_sums,
        controls,
        layer_sums,
        [entropy],
        value_sums,
        critic_controls,
        corrections,
        change_sums,
        stamps,
        found,
        tokens,
        critic_found,
      ]) => ({
        ...this.#broken(
          batch,
          brokenPlace(tokens, batch.response_length, order),
          brokenUpdate('actor', this.layout, takenUpdates(controls, updates), found) ??
            (critic &&
              brokenUpdate(
                'critic',
                critic.trainable.layout,
                takenUpdates(critic_controls, critic_updates),
                critic_found,
              )),
        ),
        metrics: {
          ...metrics,
          ...(phase.kind === 'sft'
            ? { ...sftMetrics(loss_sums, controls), 'train/lr': lr }
            : {
                ...actorMetrics(objectiveOf(phase), loss_sums, controls, updates),
                ...bypassMetrics(
                  objectiveOf(phase),
                  corrections,
                  this.#microBatches(phase, updates),
                ),
                ...(updates > 0 && { 'actor/lr': lr }),
              }),
          ...(critic && {
            ...criticMetrics(value_sums, critic_controls, critic_updates),
            ...(critic_updates > 0 && { 'critic/lr': critic_lr }),
          }),
          ...(sampler ? { 'actor/entropy': entropy / tokenCount(batch) } : {}),
          ...(probe_tokens > 0 ? layerEntropies(layer_sums, probe_tokens) : {}),
          ...changes?.metrics(change_sums, changed_tokens),
          ...(stages &&
            computeTimingMetrics(
              batch,
              gpuSeconds(stages.timesOf(stamps as ArrayLike<number> as Uint32Array)),
            )),
        },
      }),
    )
  }

  /** The evidence of an update that was left out, with the first token of `batch` whose log-prob was not finite. */
  #broken(
    batch: RolloutBatch,
    index: number | undefined,
    broken: NonFinite | undefined,
  ): { readonly non_finite?: NonFinite } {
    if (!broken) return {}
    const token = index === undefined ? undefined : tokenAt(batch, index, this.config.tokenizer)
    return { non_finite: { ...broken, ...(token && { token }) } }
  }

  /** The order of the rows in every epoch of the present step, where the phase shuffles them. */
  #rowOrder({ actor }: RlPhase, rows: number): RowOrder | undefined {
    return shufflesRows(actor) ? rowOrder(this.config.seed, this.step, rows) : undefined
  }

  #microBatches(phase: ActorPhase, updates: number): number {
    const { mini, micro } = this.#rows(phase)
    return (updates * mini) / micro
  }

  /** Step 0: validation before training, where that is asked for. */
  async #before(): Promise<PendingStep> {
    this.#is_started = true
    this.#beginStage()
    const observing = this.#observer.isDue(0) ? await this.#look() : undefined
    const validation = validatesBefore(this.config.validation) ? await this.#validate() : undefined
    const metrics = { ...validation?.metrics, ...(await this.#limitDispatches()) }
    const position = { step: 0, phase: 0, phase_step: 0 }
    const result = { ...position, metrics, samples: [], ...told(validation), ...this.#takeReason() }
    const numbers = Promise.resolve(result)
    return { result: observing ? withObservation(numbers, observing.reading) : numbers }
  }

  /** Moves to the next phase when this one is over. A stage of another kind begins with a new optimizer. */
  #enterPhase(): void {
    const is_over = this.#phase_step >= this.current.steps
    if (!is_over && !this.#ends) return
    if (this.phase === this.phases.length - 1) throw new Error('trainer: the last phase is over')
    this.#reason = this.#ends ?? 'steps'
    this.#ends = undefined
    this.#scores = []
    const kl_ctrl = klSettings(this.phases, this.phase)
    this.phase++
    this.#phase_step = 0
    this.#responder.data.beginPhase()
    this.#actor.resetImportance()
    if (!continuesSchedule(this.phases, this.phase)) this.#stage_step = 0
    if (!kl_ctrl || !continuesStage(this.phases, this.phase)) this.#kl = undefined
    this.#adoptKl(kl_ctrl)
    if (!continuesStage(this.phases, this.phase)) {
      this.#critic_step = 0
      this.#actor.resetOptimizer()
      this.#beginStage()
    } else if (this.current.kind === 'rl' && this.current.reset_optimizer)
      this.#actor.resetOptimizer()
  }

  /** Cuts what took too long in this step, so that no watchdog fires. Waits for the GPU in the first steps of a phase alone. */
  async #limitDispatches(): Promise<Record<string, number>> {
    const limits = await this.#gpu.settleDispatches()
    if (!limits) return {}
    return {
      'perf/longest_dispatch_ms': limits.longest_ms,
      'perf/split_dispatches': limits.split_dispatches,
    }
  }

  /** What reinforcement learning starts from: a frozen copy of the policy. */
  #beginStage(): void {
    if (this.current.kind === 'rl' && this.#actor.tensors.reference) this.#actor.setReference()
  }

  #takeReason(): { phase_started?: PhaseStart } {
    const reason = this.#reason
    this.#reason = undefined
    return reason ? { phase_started: { phase: this.phase, reason } } : {}
  }

  #isValidationDue(): boolean {
    const { test_freq } = this.config.validation
    // A reward model leaves the policy as it is.
    if (test_freq <= 0 || !trainsActor(this.current)) return false
    return this.step % test_freq === 0 || this.#phase_step === this.current.steps
  }

  #validate(): Promise<Validated> {
    this.#gpu.stage('testing')
    const { rollout } = this.#responder.sampler(validationSize(this.config))
    return validate(this.#gpu, rollout, this.config, this.step)
  }

  /** Uploads the rows whose layer entropies are measured, when that is due; returns their response tokens. */
  #uploadProbe(batch: RolloutBatch): number {
    const { freq } = this.config.probe
    if (freq === 0 || this.step % freq !== 0) return 0
    const probed = spreadRows(batch, this.#actor.size.probe_rows)
    this.#actor.uploadProbe(probed)
    return tokenCount(probed)
  }

  #rows(phase: ActorPhase) {
    const { prompt_length, response_length } = this.#actor.size
    return phaseRows(phase, prompt_length + response_length, this.config.model)
  }
}

/** What a step's last readback tells. */
interface StepNumbers {
  readonly metrics: Record<string, number>
  readonly scored_pairs?: readonly ScoredPair[]
  readonly non_finite?: NonFinite
}

/** A table on its way back, and whose tokens it tells of. */
interface Tracing {
  readonly table: Promise<TokenTable>
  readonly batch: RolloutBatch
  readonly order: Drawn['order']
}

/** A step of any kind whose work is queued. */
interface Taken {
  readonly samples: readonly StepSample[]
  /** What was sampled and trained on, for the step's throughput. */
  readonly rollout?: RolloutBatch
  readonly reading: Promise<StepNumbers>
  readonly tracing?: Tracing
}

/** What a queued step of the policy still has to be told about. */
interface QueuedStep {
  readonly phase: ActorPhase
  readonly batch: RolloutBatch
  readonly lr: number
  /** Response tokens of the probed rows; 0 when this step is not probed. */
  readonly probe_tokens: number
  readonly samples: readonly StepSample[]
  readonly metrics: Record<string, number>
  readonly sampler?: Sampler
  readonly critic?: Critic
  readonly critic_lr?: number
  readonly tracing?: Tracing
}

/** The answers of an evaluation as a part of a step's result, where it has any. */
const told = (validated: Validated | undefined): Pick<StepResult, 'generations'> =>
  validated && validated.generations.length > 0 ? { generations: validated.generations } : {}

/** A step's numbers with what the inside showed, which comes later. */
async function withObservation(
  numbers: Promise<StepResult>,
  reading: Promise<Observation>,
): Promise<StepResult> {
  return { ...(await numbers), observation: await reading }
}

/** Advantages and what else the driver makes, and the seconds that took. */
function timedExperience(...args: Parameters<typeof makeExperience>) {
  const start = performance.now()
  const experience = makeExperience(...args)
  return { experience, adv: (performance.now() - start) / 1000 }
}

/** Seconds of the GPU by stage. Generation is timed with its readback, as verl does, where it happens. */
function gpuSeconds({ gen, ...others }: Readonly<Record<string, number>>): Record<string, number> {
  return others
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
