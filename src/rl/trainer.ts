// The loop. One training step, top to bottom: sample → score → advantages → old log-probs → update → report.
import { type Gpu, tooLarge } from '../kernels/gpu.ts'
import { type ModelConfig, modelShape } from '../model/config.ts'
import { initialWeights, type ParamLayout, paramLayout } from '../model/params.ts'
import type { RolloutSize } from '../model/rollout.ts'
import type { Sample, Task, Tokenizer } from '../tasks/task.ts'
import { Actor, type BatchRows, needsReference, phaseRows } from './actor.ts'
import { informativeShare } from './advantages.ts'
import { balanceBatch } from './balance.ts'
import {
  makeBatch,
  pickRows,
  promptBatch,
  type RolloutBatch,
  spreadRows,
  tokenCount,
  widenRows,
} from './batch.ts'
import { Critic, createCriticTensors } from './critic.ts'
import { computeDataMetrics } from './data_metrics.ts'
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
import { maskedMeanRows } from './masked.ts'
import {
  actorSize,
  criticLayout,
  criticSize,
  planMemory,
  reserveReads,
  rolloutSize,
  rolloutSizes,
  sizeKey,
  validationSize,
} from './memory.ts'
import {
  actorMetrics,
  bypassMetrics,
  criticMetrics,
  layerEntropies,
  sftMetrics,
} from './metrics.ts'
import { objectiveOf } from './objective.ts'
import { overlongReward, tokenLevelScores } from './overlong.ts'
import type { Phase, Probe, RlPhase, SftPhase, Validation } from './phase.ts'
import { Sampler } from './sampler.ts'
import { learningRate, stageSteps } from './schedule.ts'
import { validate } from './validation.ts'

export interface TrainerConfig {
  readonly seed: number
  readonly task: Task
  readonly tokenizer: Tokenizer
  readonly model: ModelConfig
  readonly phases: readonly Phase[]
  readonly validation: Validation
  readonly probe: Probe
}

/** One response of a step, as text. */
export interface StepSample {
  readonly prompt: string
  readonly response: string
  readonly ground_truth: string
  readonly score: number
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
  /** Set on the first step of a phase. */
  readonly phase_started?: { readonly phase: number; readonly reason: PhaseReason }
}

export type PhaseReason = 'start' | 'steps' | 'next_phase'

/** A step whose work is queued on the GPU; its numbers follow. */
export interface PendingStep {
  readonly result: Promise<StepResult>
}

/** The counter-based generator's stream for training; validation has its own (validation.ts). */
const TRAIN_STREAM = 0

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
  #samplers: ReadonlyMap<string, Sampler>
  #kl: KlController | undefined
  #phase_step = 0
  #stage_step = 0
  /** Steps of this stage that had a critic. */
  #critic_step = 0
  #sample_index = 0
  #is_started = false
  #wants_next_phase = false
  #reason: PhaseReason | undefined = 'start'
  /** Optimizer steps left out so far because a gradient was not finite. */
  #skipped_updates = 0

  private constructor(
    gpu: Gpu,
    config: TrainerConfig,
    layout: ParamLayout,
    actor: Actor,
    critic: Critic | undefined,
    samplers: ReadonlyMap<string, Sampler>,
  ) {
    this.#gpu = gpu
    this.config = config
    this.layout = layout
    this.#actor = actor
    this.#critic = critic
    this.#samplers = samplers
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
    const actor = await Actor.create(gpu, layout, actorSize(config), config.phases, weights)
    const critic = await createCritic(gpu, config, actor)
    const samplers = new Map<string, Sampler>()
    for (const size of rolloutSizes(config))
      samplers.set(
        sizeKey(size),
        await Sampler.create(gpu, actor.tensors.model, size, config.tokenizer),
      )
    reserveReads(gpu, config)
    return new Trainer(gpu, config, layout, actor, critic, samplers)
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

  /** One step and its numbers. The first call validates the untrained model and reports step 0. */
  async next(): Promise<StepResult> {
    return (await this.queue()).result
  }

  /**
   * Queues one step: returns once its last GPU work is submitted, with the promise of its numbers. Queue the next step
   * before awaiting them, and the GPU never waits for the readback.
   */
  async queue(): Promise<PendingStep> {
    if (!this.#is_started) return this.#before()
    this.#enterPhase()
    const started = performance.now()
    const { dispatches, submits } = this.#gpu.counts
    const { current } = this
    this.step++
    this.#phase_step++
    const total_steps = stageSteps(this.phases, this.phase)
    const optim = current.kind === 'sft' ? current.optim : current.actor.optim
    const lr = learningRate(optim, this.#stage_step++, total_steps)
    this.#actor.beginStep()
    this.#critic?.beginStep()
    const queued = current.kind === 'sft' ? this.#sft(current, lr) : await this.#rl(current, lr)
    const position = {
      step: this.step,
      phase: this.phase,
      phase_step: this.#phase_step,
      ...this.#takeReason(),
    }
    const reading = this.#readMetrics(queued)
    reading.catch(() => {}) // a device lost during validation is reported there
    const work = {
      'perf/dispatches': this.#gpu.counts.dispatches - dispatches,
      'perf/submits': this.#gpu.counts.submits - submits,
    }
    const validation = this.#isValidationDue() ? await this.#validate() : {}
    const result = reading.then((metrics) => {
      this.#skipped_updates += metrics['training/skipped_updates']
      return {
        ...position,
        metrics: {
          'training/global_step': position.step,
          ...metrics,
          'training/skipped_updates_total': this.#skipped_updates,
          ...work,
          ...validation,
          'timing_s/step': (performance.now() - started) / 1000,
        },
        samples: queued.samples,
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

  /** Supervised step: cross-entropy on the next demonstrations. */
  #sft(phase: SftPhase, lr: number): QueuedStep {
    const { tokenizer } = this.config
    const rows = this.#rows(phase)
    const samples = this.#takeSamples(rows.batch)
    const R = this.#actor.size.response_length
    const response_ids = new Uint32Array(rows.batch * R).fill(tokenizer.pad_token_id)
    samples.forEach(({ demonstration }, b) => {
      response_ids.set(
        [...tokenizer.encode(demonstration), tokenizer.eos_token_id].slice(0, R),
        b * R,
      )
    })
    const batch = this.#makeBatch(samples, response_ids, R)
    this.#actor.upload(batch)
    const probe_tokens = this.#uploadProbe(batch)
    this.#actor.updateSupervised(batch, rows.micro, phase.optim, phase.grad_clip, lr)
    return {
      phase,
      batch,
      lr,
      probe_tokens,
      samples: [],
      metrics: {},
    }
  }

  /** Reinforcement step of the policy of `target_layer`; responses always come from the final policy. */
  async #rl(phase: RlPhase, lr: number): Promise<QueuedStep> {
    const { rollout, algorithm, critic: critic_config } = phase
    const actor = this.#actor
    const critic = needsCritic(phase) ? this.#critic : undefined
    const rows = this.#rows(phase)
    const R = rollout.max_response_length
    const started = performance.now()
    if (critic && this.#critic_step++ === 0)
      critic.begin(actor.tensors.model.weights.flat, this.layout)

    // Sample G responses to each prompt.
    const prompts = this.#takeSamples(rollout.train_batch_size)
    const drawn = prompts.flatMap((sample) => Array.from({ length: rollout.n }, () => sample))
    const sampler = this.#sampler(rolloutSize(this.config, phase))
    const reward_baselines = await this.#baselines(phase, sampler, drawn)
    this.#generate(sampler, phase, drawn)
    const columns = driverColumns(phase)
    const { response_ids: ids, log_probs } = sampler.rollout.tensors
    const [drawn_ids, drawn_log_probs] = await (columns.includes('rollout_log_probs')
      ? this.#gpu.read(ids, log_probs)
      : this.#gpu.read(ids)) // readback 1
    const generated = performance.now()

    // Score them: the end of a response carries its reward.
    const order = this.#order(phase, drawn, drawn_ids)
    const samples = order.map((row) => drawn[row])
    const response_ids = pickRows(drawn_ids, order, R)
    const { batch, texts, scores } = this.#judge(samples, response_ids, R)
    const scored: ScoredBatch = {
      response_length: batch.response_length,
      response_mask: batch.response_mask,
      token_level_scores: tokenLevelScores(
        penalised(phase, scores, batch),
        batch.response_lengths,
        batch.response_length,
      ),
      index: order.map((row) => Math.floor(row / rollout.n)),
      ...(reward_baselines && { reward_baselines: order.map((row) => reward_baselines[row]) }),
    }
    const judged = performance.now()

    // A write ends what was recorded before it, so the probe's rows go up first.
    const probe_tokens = this.#uploadProbe(batch)

    // Old policy, reference and values; then advantages. Only what the estimator asks for comes back from the GPU.
    let experience: Experience
    let values: Float32Array | undefined
    this.#kl ??= klController(algorithm.kl_ctrl)
    if (columns.length === 0) {
      experience = makeExperience(phase, scored, this.#kl)
      actor.upload(batch, { advantages: Float32Array.from(experience.advantages) })
      this.#scoreBatch(phase, rows, critic)
    } else {
      const rollout_log_probs =
        drawn_log_probs && this.#widen(pickRows(drawn_log_probs, order, R), R)
      const is_bypassed = algorithm.rollout_correction.bypass_mode
      actor.upload(batch)
      this.#scoreBatch(phase, rows, critic)
      if (is_bypassed && rollout_log_probs)
        actor.uploadColumns({ old_log_probs: rollout_log_probs })
      const read = await this.#readColumns(columns, rows.batch)
      values = read.values
      experience = makeExperience(
        phase,
        {
          ...scored,
          ...read,
          ...(rollout_log_probs && { rollout_log_probs }),
        },
        this.#kl,
      )
      actor.uploadColumns({
        advantages: Float32Array.from(experience.advantages),
        ...(experience.rollout_is_weights && {
          rollout_is_weights: Float32Array.from(experience.rollout_is_weights),
        }),
        ...(experience.response_mask && {
          response_mask: Float32Array.from(experience.response_mask),
        }),
      })
    }
    const response_mask = Float32Array.from(experience.response_mask ?? batch.response_mask)
    const trained: RolloutBatch = { ...batch, response_mask }

    // Critic first, then the actor: both of the same rows.
    const critic_lr = this.#criticRate(phase)
    if (critic)
      critic.update(trained, Float32Array.from(experience.returns), critic_config, rows, {
        epochs: phase.actor.ppo_epochs,
        lr: critic_lr,
        is_legacy: phase.actor.use_legacy_worker_impl === 'enable',
        max_response_length: R,
      })
    if (!critic || this.#critic_step >= critic_config.critic_warmup)
      actor.updatePolicy(trained, phase, rows, lr, this.step)

    const advantages = maskedMeanRows(experience.advantages, response_mask, batch.response_length)
    const reported: StepSample[] = []
    order.forEach((row, b) => {
      reported[row] = {
        prompt: samples[b].prompt,
        response: texts[b],
        ground_truth: samples[b].ground_truth,
        score: scores[b],
        advantage: advantages[b],
        response_length: batch.response_lengths[b],
        is_ended: batch.is_ended[b],
      }
    })
    return {
      phase,
      batch,
      lr,
      probe_tokens,
      sampler,
      ...(critic && { critic, critic_lr }),
      samples: reported,
      metrics: {
        ...computeDataMetrics({
          ...batch,
          ...scored,
          ...experience,
          response_mask,
          max_response_length: R,
          ...(values && { values }),
        }),
        ...experience.metrics,
        ...(phase.actor.use_kl_loss && { 'actor/kl_coef': phase.actor.kl_loss_coef }),
        'group/informative': informativeShare(
          reported.map(({ score }) => score),
          rollout.n,
        ),
        'timing_s/gen': (generated - started) / 1000,
        'timing_s/reward': (judged - generated) / 1000,
      },
    }
  }

  /** Encodes one response to each sample; `change` makes it another draw, e.g. a greedy one. */
  #generate(
    { rollout }: Sampler,
    phase: RlPhase,
    samples: readonly Sample[],
    change: { readonly temperature?: number } = {},
  ): void {
    const { seed, task, tokenizer } = this.config
    const sampling = { seed, stream: TRAIN_STREAM, step: this.step, row_offset: 0 }
    const prompts = promptBatch(samples, task, tokenizer)
    rollout.generate(prompts, { ...phase.rollout, ...change, ...sampling })
  }

  /** ReMax's baseline: the score of a greedy response to each row's prompt. */
  async #baselines(
    phase: RlPhase,
    sampler: Sampler,
    samples: readonly Sample[],
  ): Promise<readonly number[] | undefined> {
    if (phase.adv_estimator !== 'remax') return undefined
    this.#generate(sampler, phase, samples, { temperature: 0 })
    const [ids] = await this.#gpu.read(sampler.rollout.tensors.response_ids)
    const { batch, scores } = this.#judge(samples, ids, phase.rollout.max_response_length)
    return penalised(phase, scores, batch)
  }

  /** Responses [B, R] as a batch and as text, and what the task says of them: 0 for one that did not end. */
  #judge(samples: readonly Sample[], response_ids: Uint32Array, R: number) {
    const { task, tokenizer } = this.config
    const batch = this.#makeBatch(samples, response_ids, R)
    const texts = samples.map((_, b) => tokenizer.decode(response_ids.subarray(b * R, (b + 1) * R)))
    const scores = samples.map(({ prompt }, b) =>
      batch.is_ended[b] ? task.score(prompt, texts[b]) : 0,
    )
    return { batch, texts, scores }
  }

  /** Rows in the order in which mini-batches are cut from them. */
  #order(phase: RlPhase, samples: readonly Sample[], response_ids: Uint32Array): number[] {
    const rows = samples.map((_, b) => b)
    if (!phase.algorithm.balance_batch) return rows
    const { attention_mask, prompt_length, response_length } = this.#makeBatch(
      samples,
      response_ids,
      phase.rollout.max_response_length,
    )
    const T = prompt_length + response_length
    const seqlens = rows.map((b) =>
      attention_mask.subarray(b * T, (b + 1) * T).reduce((sum, m) => sum + m, 0),
    )
    return balanceBatch(seqlens).flat()
  }

  /** Encodes what is computed of the uploaded batch before any update: old and reference log-probs, values. */
  #scoreBatch(phase: RlPhase, rows: BatchRows, critic: Critic | undefined): void {
    const { bypass_mode } = phase.algorithm.rollout_correction
    if (!bypass_mode || needsPiSquared(phase)) this.#actor.computeLogProbs(phase, rows)
    if (needsReference(phase)) this.#actor.computeRefLogProb(phase, rows)
    critic?.computeValues(rows)
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

  /** [B, R] of a phase with shorter responses, in the actor's columns. */
  #widen(values: Float32Array, R: number): Float32Array {
    const width = this.#actor.size.response_length
    if (R === width) return values
    const wide = new Float32Array((values.length / R) * width)
    for (let b = 0; b < values.length / R; b++)
      wide.set(values.subarray(b * R, (b + 1) * R), b * width)
    return wide
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
    if (probe_tokens > 0) actor.probe()
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
    ) // readback 2
    return read.then(
      ([loss_sums, controls, layer_sums, [entropy], value_sums, critic_controls, corrections]) => ({
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
        'timing_s/update_actor': (performance.now() - queued) / 1000,
      }),
    )
  }

  #microBatches(phase: Phase, updates: number): number {
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
    const before = this.current.kind
    this.#reason = this.#wants_next_phase ? 'next_phase' : 'steps'
    this.#wants_next_phase = false
    this.phase++
    this.#phase_step = 0
    this.#kl = undefined
    this.#actor.resetImportance()
    if (this.current.kind !== before) {
      this.#stage_step = 0
      this.#critic_step = 0
      this.#actor.resetOptimizer()
      this.#beginStage()
    }
  }

  /** What reinforcement learning starts from: a frozen copy of the policy. */
  #beginStage(): void {
    if (this.current.kind === 'rl' && this.#actor.tensors.reference) this.#actor.setReference()
  }

  #takeReason(): { phase_started?: { phase: number; reason: PhaseReason } } {
    const reason = this.#reason
    this.#reason = undefined
    return reason ? { phase_started: { phase: this.phase, reason } } : {}
  }

  #isValidationDue(): boolean {
    const { test_freq } = this.config.validation
    if (test_freq <= 0) return false
    return this.step % test_freq === 0 || this.#phase_step === this.current.steps
  }

  #validate(): Promise<Record<string, number>> {
    const { rollout } = this.#sampler(validationSize(this.config))
    return validate(this.#gpu, rollout, this.config, this.step)
  }

  #takeSamples(count: number): Sample[] {
    const { seed, task } = this.config
    const first = this.#sample_index
    this.#sample_index += count
    return Array.from({ length: count }, (_, i) => task.sample(seed, first + i, 'train'))
  }

  /** Uploads the rows whose layer entropies are measured, when that is due; returns their response tokens. */
  #uploadProbe(batch: RolloutBatch): number {
    const { freq } = this.config.probe
    if (freq === 0 || this.step % freq !== 0) return 0
    const probed = spreadRows(batch, this.#actor.size.probe_rows)
    this.#actor.uploadProbe(probed)
    return tokenCount(probed)
  }

  /** Rows of ids, with responses widened to the actor's R where this phase's are shorter. */
  #makeBatch(samples: readonly Sample[], response_ids: Uint32Array, R: number): RolloutBatch {
    const { task, tokenizer } = this.config
    const width = this.#actor.size.response_length
    const ids = widenRows(response_ids, R, width, tokenizer.pad_token_id)
    const size = {
      rows: samples.length,
      prompt_length: task.max_prompt_length,
      response_length: width,
    }
    return makeBatch(promptBatch(samples, task, tokenizer), ids, size, tokenizer.eos_token_id, R)
  }

  #rows(phase: Phase) {
    return phaseRows(phase, this.#actor.size.prompt_length + this.#actor.size.response_length)
  }

  #sampler(size: RolloutSize): Sampler {
    const sampler = this.#samplers.get(sizeKey(size))
    if (!sampler) throw new Error(`trainer: no rollout of ${sizeKey(size)}`)
    return sampler
  }
}

/** What a queued step still has to be told about. */
interface QueuedStep {
  readonly phase: Phase
  readonly batch: RolloutBatch
  readonly lr: number
  /** Response tokens of the probed rows; 0 when this step is not probed. */
  readonly probe_tokens: number
  readonly samples: readonly StepSample[]
  readonly metrics: Record<string, number>
  readonly sampler?: Sampler
  readonly critic?: Critic
  readonly critic_lr?: number
}

/** Scores with DAPO's penalty for responses that come close to the maximum length, where a phase has one. */
function penalised(
  { algorithm, rollout }: RlPhase,
  scores: readonly number[],
  { response_lengths }: RolloutBatch,
): readonly number[] {
  const { overlong_buffer } = algorithm
  if (!overlong_buffer) return scores
  const buffer = { ...overlong_buffer, max_resp_len: rollout.max_response_length }
  return scores.map((score, b) => score + overlongReward(response_lengths[b], buffer))
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
  const critic = await Critic.create(gpu, layout, tensors, actor.tensors, weights)
  const width = actor.size.prompt_length + actor.size.response_length
  for (const phase of config.phases)
    if (phase.kind === 'rl' && needsCritic(phase))
      await critic.prepare(phaseRows(phase, width).micro, phase.critic.loss_agg_mode)
  return critic
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
