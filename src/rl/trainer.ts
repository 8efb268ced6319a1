// The loop. One training step, top to bottom: sample → score → advantages → old log-probs → update → report.
import { type Gpu, tooLarge } from '../kernels/gpu.ts'
import { type ModelConfig, modelShape } from '../model/config.ts'
import { initialWeights, type ParamLayout, paramLayout } from '../model/params.ts'
import type { RolloutSize } from '../model/rollout.ts'
import type { Sample, Task, Tokenizer } from '../tasks/task.ts'
import { Actor, phaseRows } from './actor.ts'
import { grpoAdvantages, informativeShare, spreadAdvantages } from './advantages.ts'
import {
  makeBatch,
  promptBatch,
  type RolloutBatch,
  spreadRows,
  tokenCount,
  widenRows,
} from './batch.ts'
import {
  actorSize,
  planMemory,
  reserveReads,
  rolloutSize,
  rolloutSizes,
  sizeKey,
  validationSize,
} from './memory.ts'
import { actorMetrics, layerEntropies, responseMetrics } from './metrics.ts'
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
  #samplers: ReadonlyMap<string, Sampler>
  #phase_step = 0
  #stage_step = 0
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
    samplers: ReadonlyMap<string, Sampler>,
  ) {
    this.#gpu = gpu
    this.config = config
    this.layout = layout
    this.#actor = actor
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
    const samplers = new Map<string, Sampler>()
    for (const size of rolloutSizes(config))
      samplers.set(
        sizeKey(size),
        await Sampler.create(gpu, actor.tensors.model, size, config.tokenizer),
      )
    reserveReads(gpu, config)
    return new Trainer(gpu, config, layout, actor, samplers)
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
      updates: 1,
      samples: [],
      metrics: {},
      sampler: undefined,
    }
  }

  /** Reinforcement step of the policy of `target_layer`; responses always come from the final policy. */
  async #rl(phase: RlPhase, lr: number): Promise<QueuedStep> {
    const { seed, task, tokenizer } = this.config
    const { rollout, target_layer, actor: config } = phase
    const { temperature, n: G } = rollout
    const rows = this.#rows(phase)
    const started = performance.now()

    // Sample G responses to each prompt.
    const prompts = this.#takeSamples(rollout.train_batch_size)
    const samples = prompts.flatMap((sample) => Array.from({ length: G }, () => sample))
    const sampler = this.#sampler(rolloutSize(this.config, phase))
    const sampling = { ...rollout, seed, stream: TRAIN_STREAM, step: this.step, row_offset: 0 }
    sampler.rollout.generate(promptBatch(samples, task, tokenizer), sampling)
    const [response_ids] = await this.#gpu.read(sampler.rollout.tensors.response_ids) // readback 1
    const generated = performance.now()

    // Score them, and compare each with its group.
    const R = rollout.max_response_length
    const texts = samples.map((_, b) => tokenizer.decode(response_ids.subarray(b * R, (b + 1) * R)))
    const batch = this.#makeBatch(samples, response_ids, R)
    const scores = samples.map(({ prompt }, b) =>
      batch.is_ended[b] ? task.score(prompt, texts[b]) : 0,
    )
    const group_index = samples.map((_, b) => Math.floor(b / G))
    const advantages = grpoAdvantages(scores, group_index, phase.algorithm)
    const scored = performance.now()

    // Old policy, then the update: both of the same layer.
    const actor = this.#actor
    actor.upload(batch, spreadAdvantages(advantages, batch.response_mask, batch.response_length))
    const probe_tokens = this.#uploadProbe(batch)
    actor.computeLogProbs(target_layer, batch.rows, rows.micro, temperature)
    const updates = actor.updatePolicy(batch, target_layer, rows, config, temperature, lr)

    return {
      phase,
      batch,
      lr,
      probe_tokens,
      updates,
      sampler,
      samples: samples.map(({ prompt, ground_truth }, b) => ({
        prompt,
        response: texts[b],
        ground_truth,
        score: scores[b],
        advantage: advantages[b],
        response_length: batch.response_lengths[b],
        is_ended: batch.is_ended[b],
      })),
      metrics: {
        ...responseMetrics(batch, scores, advantages),
        'group/informative': informativeShare(scores, G),
        'timing_s/gen': (generated - started) / 1000,
        'timing_s/reward': (scored - generated) / 1000,
      },
    }
  }

  /** Probes the layers, then reads every number of this step in one readback. */
  #readMetrics({
    phase,
    batch,
    lr,
    probe_tokens,
    updates,
    metrics,
    sampler,
  }: QueuedStep): Promise<Record<string, number>> {
    const actor = this.#actor
    const { sums, history, probe_sums } = actor.tensors
    if (probe_tokens > 0) actor.probe()
    sampler?.sumEntropy()
    const entropy_sum = sampler?.entropy_sum ?? sums
    const queued = performance.now()
    const read = this.#gpu.read(sums, history, probe_sums, entropy_sum) // readback 2
    return read.then(([loss_sums, controls, layer_sums, [entropy]]) => ({
      ...metrics,
      ...actorMetrics(phase.kind, loss_sums, controls, updates),
      [phase.kind === 'sft' ? 'train/lr' : 'actor/lr']: lr,
      ...(sampler ? { 'actor/entropy': entropy / tokenCount(batch) } : {}),
      ...(probe_tokens > 0 ? layerEntropies(layer_sums, probe_tokens) : {}),
      'timing_s/update_actor': (performance.now() - queued) / 1000,
    }))
  }

  /** Step 0: validation before training, as verl's val_before_train. */
  async #before(): Promise<PendingStep> {
    this.#is_started = true
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
    if (this.current.kind !== before) {
      this.#stage_step = 0
      this.#actor.resetOptimizer()
    }
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
  readonly updates: number
  /** Response tokens of the probed rows; 0 when this step is not probed. */
  readonly probe_tokens: number
  readonly samples: readonly StepSample[]
  readonly metrics: Record<string, number>
  readonly sampler: Sampler | undefined
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
