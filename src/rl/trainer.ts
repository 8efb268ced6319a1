// The loop. One training step, top to bottom: sample → score → advantages → old log-probs → update → report.
import { type Gpu, tooLarge } from '../kernels/gpu.ts'
import type { MatmulChoice } from '../kernels/matmul/matmul_variants.ts'
import { type ModelConfig, modelShape } from '../model/config.ts'
import { initialWeights, type ParamLayout, paramLayout } from '../model/params.ts'
import type { Fusion } from '../model/transformer.ts'
import type { Task, Tokenizer } from '../tasks/task.ts'
import { Actor, type BatchRows, needsReference, phaseRows } from './actor.ts'
import { type RolloutBatch, spreadRows, tokenCount } from './batch.ts'
import { Critic, createCriticTensors } from './critic.ts'
import { computeThroughputMetrics } from './data_metrics.ts'
import {
  type DriverColumn,
  driverColumns,
  type Experience,
  makeExperience,
  needsCritic,
  needsPiSquared,
  type ScoredBatch,
} from './experience.ts'
import { type KlController, klController } from './kl.ts'
import { LayerChanges } from './layer_changes.ts'
import { maskedMeanRows } from './masked.ts'
import {
  actorSize,
  criticLayout,
  criticSize,
  measuresChanges,
  planMemory,
  reserveReads,
  rewardLayout,
  rewardSize,
  rolloutSizes,
  sizeKey,
  validationSize,
} from './memory.ts'
import {
  actorMetrics,
  bypassMetrics,
  criticMetrics,
  layerEntropies,
  rlMetrics,
  sftMetrics,
} from './metrics.ts'
import { objectiveOf } from './objective.ts'
import {
  type ActorPhase,
  type Phase,
  type Probe,
  type RewardModelPhase,
  type RlPhase,
  type SftPhase,
  trainsActor,
  type Validation,
} from './phase.ts'
import type { Preferences } from './preferences.ts'
import { type Drawn, Responder, reportSamples } from './responder.ts'
import { RewardTraining, type ScoredPair } from './reward_training.ts'
import { Sampler } from './sampler.ts'
import { continuesStage, learningRate, stageSteps } from './schedule.ts'
import { type TokenTable, tokenTable, traceColumns, traceTensor } from './token_table.ts'
import { validate } from './validation.ts'

export interface TrainerConfig {
  readonly seed: number
  readonly task: Task
  readonly tokenizer: Tokenizer
  readonly model: ModelConfig
  readonly phases: readonly Phase[]
  readonly validation: Validation
  readonly probe: Probe
  /** Less memory for more arithmetic: the same bits (model/workspace.ts). */
  readonly enable_gradient_checkpointing?: boolean
  /** Leave padding out of log-prob and update passes: the same numbers to rounding, for less work. Default true. */
  readonly use_remove_padding?: boolean
  /**
   * Kernels of the linear layers (see tuneMatmul), where they are not the default ones. Results are the same bits for the
   * same choice, and differ in rounding between choices.
   */
  readonly matmul?: MatmulChoice | undefined
  /** What runs inside a matrix product instead of after it (model/fusion.ts). Default: all of it. */
  readonly fusion?: Fusion | undefined
}

/** One response of a step, as text. */
export interface StepSample {
  readonly prompt: string
  readonly response: string
  readonly ground_truth: string
  /** What the task says. */
  readonly score: number
  /** What the reward model says, where that is trained on. */
  readonly rm_score?: number
  /** Mean over the response's tokens; group estimators give all of them the same. */
  readonly advantage: number
  readonly response_length: number
  readonly is_ended: boolean
}

export interface StepResult {
  /** 0 = before training. */
  readonly step: number
  readonly phase: number
  /** Steps done in this phase, this one included. */
  readonly phase_step: number
  readonly metrics: Record<string, number>
  /** All rows of a reinforcement step; none of a supervised one. */
  readonly samples: readonly StepSample[]
  /** Held-out pairs with the reward model's scores, when they were measured. */
  readonly scored_pairs?: readonly ScoredPair[]
  /** What it computed of every token, where that was asked for (Trainer.traceNext). */
  readonly trace?: TokenTable
  /** Set on the first step of a phase, unless takePhaseStart told it before. */
  readonly phase_started?: PhaseStart
}

export interface PhaseStart {
  readonly phase: number
  readonly reason: PhaseReason
}

export type PhaseReason = 'start' | 'steps' | 'next_phase'

/** A step whose work is queued on the GPU; its numbers follow. */
export interface PendingStep {
  readonly result: Promise<StepResult>
}

export class Trainer {
  readonly config: TrainerConfig
  readonly layout: ParamLayout
  /** Index of the current phase. */
  phase = 0
  /** Training steps done, over all phases. */
  step = 0
  #gpu: Gpu
  #actor: Actor
  #critic: Critic | undefined
  #reward: RewardTraining | undefined
  #responder: Responder
  #changes: LayerChanges | undefined
  /** The reward_model phase whose pairs are drawn. */
  #pairs_of: number | undefined
  #kl: KlController | undefined
  #phase_step = 0
  #stage_step = 0
  /** Steps of this stage that had a critic. */
  #critic_step = 0
  #is_started = false
  #wants_next_phase = false
  #wants_trace = false
  #reason: PhaseReason | undefined = 'start'
  /** Optimizer steps left out so far because a gradient was not finite. */
  #skipped_updates = 0

  private constructor(
    gpu: Gpu,
    config: TrainerConfig,
    layout: ParamLayout,
    actor: Actor,
    critic: Critic | undefined,
    reward: RewardTraining | undefined,
    responder: Responder,
    changes: LayerChanges | undefined,
  ) {
    this.#gpu = gpu
    this.#changes = changes
    this.config = config
    this.layout = layout
    this.#actor = actor
    this.#critic = critic
    this.#reward = reward
    this.#responder = responder
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
    onProgress(`Allocating ${megabytes(plan.total())}`)
    onProgress('Compiling shaders')
    const weights = initialWeights(layout, config.seed)
    const actor_phases = config.phases.filter(trainsActor)
    const actor = await Actor.create(gpu, layout, actorSize(config), actor_phases, weights)
    const critic = await createCritic(gpu, config, actor)
    const reward = await createReward(gpu, config)
    const samplers = new Map<string, Sampler>()
    for (const size of rolloutSizes(config))
      samplers.set(
        sizeKey(size),
        await Sampler.create(gpu, actor.tensors.model, size, config.tokenizer),
      )
    reserveReads(gpu, config)
    const responder = new Responder(gpu, config, samplers, actor.size.response_length)
    const changes = measuresChanges(config)
      ? await LayerChanges.create(gpu, actor.tensors)
      : undefined
    return new Trainer(gpu, config, layout, actor, critic, reward, responder, changes)
  }

  get phases(): readonly Phase[] {
    return this.config.phases
  }

  /** The current phase's configuration. */
  get current(): Phase {
    return this.config.phases[this.phase]
  }

  get isFinished(): boolean {
    const is_last = this.phase === this.phases.length - 1
    const is_over = this.#phase_step >= this.current.steps || this.#wants_next_phase
    return this.#is_started && is_last && is_over
  }

  /** Ends the current phase before the next step. */
  nextPhase(): void {
    this.#wants_next_phase = true
  }

  /** The next step of reinforcement reads back what it computed of every token: `StepResult.trace`. Changes none of its numbers. */
  traceNext(): void {
    this.#wants_trace = true
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
        takeSamples: (count) => responder.takeSamples(count),
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
   * before awaiting them, and the GPU never waits for the readback. Throws while the phase waits for verdicts.
   */
  async queue(): Promise<PendingStep> {
    if (!this.#is_started) return this.#before()
    if (!(await this.ready())) throw new Error('trainer: this phase waits for verdicts')
    const started = performance.now()
    const { dispatches, submits } = this.#gpu.counts
    const { current } = this
    this.step++
    this.#phase_step++
    const total_steps = stageSteps(this.phases, this.phase)
    const optim = current.kind === 'rl' ? current.actor.optim : current.optim
    const lr = learningRate(optim, this.#stage_step++, total_steps)
    const { samples, rollout, reading, tracing } = trainsActor(current)
      ? await this.#trainActor(current, lr)
      : this.#rewardModel(current, lr)
    const position = {
      step: this.step,
      phase: this.phase,
      phase_step: this.#phase_step,
      ...this.#takeReason(),
    }
    reading.catch(() => {}) // a device lost during validation is reported there
    tracing?.catch(() => {})
    const work = {
      'perf/dispatches': this.#gpu.counts.dispatches - dispatches,
      'perf/submits': this.#gpu.counts.submits - submits,
    }
    const validation = this.#isValidationDue() ? await this.#validate() : {}
    const result = Promise.all([reading, tracing]).then(([{ metrics, scored_pairs }, trace]) => {
      this.#skipped_updates += metrics['training/skipped_updates']
      const seconds = (performance.now() - started) / 1000
      return {
        ...position,
        metrics: {
          'training/global_step': position.step,
          ...metrics,
          'training/skipped_updates_total': this.#skipped_updates,
          ...work,
          ...validation,
          ...(rollout && computeThroughputMetrics(rollout, { step: seconds })),
          'timing_s/step': seconds,
        },
        samples,
        ...(scored_pairs && { scored_pairs }),
        ...(trace && { trace }),
      }
    })
    result.catch(() => {}) // its reader may come late
    return { result }
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
    const reading = this.#readMetrics(queued).then((metrics) => ({ metrics }))
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
    const measures = is_end || (test_freq > 0 && this.step % test_freq === 0)
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
    if (critic && this.#critic_step++ === 0)
      critic.begin(actor.tensors.model.weights.flat, this.layout)

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
    const { experience, values } = await this.#experience(phase, drawn, rows, critic)
    const response_mask = Float32Array.from(experience.response_mask ?? batch.response_mask)
    const trained: RolloutBatch = { ...batch, response_mask }

    // Critic first, then the actor: both of the same rows.
    const critic_lr = this.#criticRate(phase)
    this.#gpu.stage('update_critic')
    if (critic)
      critic.update(trained, Float32Array.from(experience.returns), phase.critic, rows, {
        epochs: phase.actor.ppo_epochs,
        lr: critic_lr,
        is_legacy: phase.actor.use_legacy_worker_impl === 'enable',
        max_response_length: phase.rollout.max_response_length,
      })
    this.#gpu.stage('update_actor')
    const wants_trace = this.#wants_trace
    this.#wants_trace = false
    if (wants_trace) actor.beginTrace()
    if (!critic || this.#critic_step >= phase.critic.critic_warmup)
      actor.updatePolicy(trained, phase, rows, lr, this.step)
    const tracing = wants_trace ? this.#trace(phase, drawn, experience, trained) : undefined

    const { response_length: R } = batch
    const samples = reportSamples(drawn, maskedMeanRows(experience.advantages, response_mask, R))
    const metrics = rlMetrics(phase, drawn, { ...experience, response_mask }, values)
    const { sampler } = drawn
    const learner = critic && { critic, critic_lr }
    const rest = { ...(sampler && { sampler }), ...learner, samples, metrics }
    const traced = tracing && { tracing }
    return { phase, batch, lr, probe_tokens, ...rest, ...traced }
  }

  /** Scores the batch under the old policy and what else the phase needs, and makes its advantages; uploads both. */
  async #experience(
    phase: RlPhase,
    drawn: Drawn,
    rows: BatchRows,
    critic: Critic | undefined,
  ): Promise<{ experience: Experience; values?: Float32Array }> {
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
    this.#kl ??= klController(algorithm.kl_ctrl)
    const columns = driverColumns(phase)
    if (columns.length === 0) {
      const experience = makeExperience(phase, scored, this.#kl)
      actor.upload(batch, rows, { advantages: Float32Array.from(experience.advantages) })
      this.#scoreBatch(phase, rows, critic)
      return { experience }
    }
    actor.upload(batch, rows)
    this.#scoreBatch(phase, rows, critic)
    if (algorithm.rollout_correction.bypass_mode && rollout_log_probs)
      actor.uploadColumns({ old_log_probs: rollout_log_probs })
    const read = await this.#readColumns(columns, rows.batch)
    const experience = makeExperience(phase, { ...scored, ...read }, this.#kl)
    const { advantages, rollout_is_weights, response_mask } = experience
    actor.uploadColumns({
      advantages: Float32Array.from(advantages),
      ...(rollout_is_weights && { rollout_is_weights: Float32Array.from(rollout_is_weights) }),
      ...(response_mask && { response_mask: Float32Array.from(response_mask) }),
    })
    return { experience, ...(read.values && { values: read.values }) }
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
    return this.#gpu.read(...tensors).then((arrays) => {
      const read = Object.fromEntries(names.map((name, i) => [name, arrays[i] as Float32Array]))
      return tokenTable({ phase, drawn, experience, trained, rows, updates, read, tokens })
    })
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
  #criticRate({ critic }: RlPhase): number {
    return learningRate(critic.optim, this.#stage_step - 1, stageSteps(this.phases, this.phase))
  }

  /** Probes the layers, then reads every number of this step in one readback. */
  #readMetrics(queued_step: QueuedStep): Promise<Record<string, number>> {
    const { phase, batch, lr, probe_tokens, metrics, sampler, critic, critic_lr } = queued_step
    const actor = this.#actor
    const { sums, history, probe_sums, correction_sums } = actor.tensors
    this.#gpu.stage('probe')
    if (probe_tokens > 0) actor.probe()
    const changes = this.#isValidationDue() ? this.#changes : undefined
    const changed_tokens = changes?.measure(spreadRows(batch, actor.size.probe_rows)) ?? 0
    this.#gpu.stage('gen')
    sampler?.sumEntropy()
    const { updates } = actor.trainable
    const critic_updates = critic?.trainable.updates ?? 0
    const queued = performance.now()
    const read = this.#gpu.read(
      sums,
      history,
      probe_sums,
      sampler?.entropy_sum ?? sums,
      critic?.tensors.value_sums ?? sums,
      critic?.tensors.history ?? history,
      correction_sums,
      changes?.tensors.sums ?? sums,
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
      ]) => ({
        ...metrics,
        ...(phase.kind === 'sft'
          ? { ...sftMetrics(loss_sums, controls), 'train/lr': lr }
          : {
              ...actorMetrics(objectiveOf(phase), loss_sums, controls, updates),
              ...bypassMetrics(objectiveOf(phase), corrections, this.#microBatches(phase, updates)),
              ...(updates > 0 && { 'actor/lr': lr }),
            }),
        ...(critic && {
          ...criticMetrics(value_sums, critic_controls, critic_updates),
          ...(critic_updates > 0 && { 'critic/lr': critic_lr }),
        }),
        ...(sampler ? { 'actor/entropy': entropy / tokenCount(batch) } : {}),
        ...(probe_tokens > 0 ? layerEntropies(layer_sums, probe_tokens) : {}),
        ...changes?.metrics(change_sums, changed_tokens),
        'timing_s/update_actor': (performance.now() - queued) / 1000,
      }),
    )
  }

  #microBatches(phase: ActorPhase, updates: number): number {
    const { mini, micro } = this.#rows(phase)
    return (updates * mini) / micro
  }

  /** Step 0: validation before training, as verl's val_before_train. */
  async #before(): Promise<PendingStep> {
    this.#is_started = true
    this.#beginStage()
    const metrics = this.config.validation.test_freq > 0 ? await this.#validate() : {}
    const result = { step: 0, phase: 0, phase_step: 0, metrics, samples: [], ...this.#takeReason() }
    return { result: Promise.resolve(result) }
  }

  /** Moves to the next phase when this one is over. A stage of another kind begins with a new optimizer. */
  #enterPhase(): void {
    const is_over = this.#phase_step >= this.current.steps
    if (!is_over && !this.#wants_next_phase) return
    if (this.phase === this.phases.length - 1) throw new Error('trainer: the last phase is over')
    this.#reason = this.#wants_next_phase ? 'next_phase' : 'steps'
    this.#wants_next_phase = false
    this.phase++
    this.#phase_step = 0
    this.#kl = undefined
    this.#actor.resetImportance()
    if (!continuesStage(this.phases, this.phase)) {
      this.#stage_step = 0
      this.#critic_step = 0
      this.#actor.resetOptimizer()
      this.#beginStage()
    } else if (this.current.kind === 'rl' && this.current.reset_optimizer)
      this.#actor.resetOptimizer()
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

  #validate(): Promise<Record<string, number>> {
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

/** A step of any kind whose work is queued. */
interface Taken {
  readonly samples: readonly StepSample[]
  /** What was sampled and trained on, for the step's throughput. */
  readonly rollout?: RolloutBatch
  readonly reading: Promise<{
    readonly metrics: Record<string, number>
    readonly scored_pairs?: readonly ScoredPair[]
  }>
  readonly tracing?: Promise<TokenTable>
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
  readonly tracing?: Promise<TokenTable>
}

/** The critic of the phases that have one. Its transformer is copied from the actor at its first step of a stage. */
async function createCritic(
  gpu: Gpu,
  config: TrainerConfig,
  actor: Actor,
): Promise<Critic | undefined> {
  const size = criticSize(config)
  if (!size) return undefined
  const layout = criticLayout(config)
  const tensors = createCriticTensors(gpu, layout, size)
  const weights = initialWeights(layout, config.seed)
  const shared = { batch: actor.batch, workspace: actor.tensors.workspace }
  const critic = await Critic.create(gpu, layout, tensors, shared, weights)
  const width = actor.size.prompt_length + actor.size.response_length
  for (const phase of config.phases)
    if (phase.kind === 'rl' && needsCritic(phase))
      await critic.prepare(phaseRows(phase, width, config.model).micro, phase.critic.loss_agg_mode)
  return critic
}

/** The reward model of the phases that train one. Its transformer is copied from the actor when such a phase begins. */
async function createReward(gpu: Gpu, config: TrainerConfig): Promise<RewardTraining | undefined> {
  const size = rewardSize(config)
  if (!size) return undefined
  const layout = rewardLayout(config)
  const { seed, tokenizer } = config
  const weights = initialWeights(layout, seed)
  return RewardTraining.create(gpu, seed, layout, size, tokenizer.pad_token_id, weights)
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
